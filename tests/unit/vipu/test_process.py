# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A program of V-IPU runs for so long and no longer, in a directory of its own."""

from __future__ import annotations

import sys
from pathlib import Path

from ansible_collections.ipu.pod.plugins.module_utils._host.programs import NOT_FOUND, TIMED_OUT
from ansible_collections.ipu.pod.plugins.module_utils._vipu.connection import run_program

SAYS_WHERE = "import os, sys; print(os.getcwd(), os.environ['VIPU']); sys.exit(3)"


def test_a_program_has_its_directory_and_its_environment(tmp_path: Path) -> None:
    code, output, errors = run_program([sys.executable, "-c", SAYS_WHERE], 30, str(tmp_path), {"VIPU": "yes"})
    assert (code, output, errors) == (3, f"{tmp_path} yes\n", "")


def test_a_program_that_does_not_end_is_ended(tmp_path: Path) -> None:
    forever = [sys.executable, "-c", "import threading; threading.Event().wait()"]
    assert run_program(forever, 0.1, str(tmp_path), {}) == (
        TIMED_OUT,
        "",
        "no end after 0.1 s; look at the controller's log, or raise wait_timeout",
    )


def test_a_program_that_is_missing_is_named(tmp_path: Path) -> None:
    code, _, errors = run_program(["no-vipu-admin"], 1, str(tmp_path), {})
    assert (code, errors) == (
        NOT_FOUND,
        "no-vipu-admin: No such file or directory; install the V-IPU programs or set the option program",
    )
