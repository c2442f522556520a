# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running one of V-IPU's programs, for so long and no longer."""

from __future__ import annotations

import os
import subprocess
from typing import Mapping, Sequence

from .._host import programs
from .._host.programs import NOT_FOUND, TIMED_OUT


def run_program(
    argv: Sequence[str], limit: float, directory: str, environment: Mapping[str, str]
) -> tuple[int, str, str]:
    """Run a program and return its exit code, output and errors.

    Args:
        argv: the program and its arguments.
        limit: seconds after which it is ended.
        directory: its working directory; ``vipu-admin create user`` leaves a file with the access key there.
        environment: variables on top of this process's own.
    """
    variables = {**os.environ, "LC_ALL": "C.UTF-8", **environment}
    try:
        return programs.run_program(argv, limit, directory, variables)
    except subprocess.TimeoutExpired:
        return TIMED_OUT, "", f"no end after {limit:g} s; look at the controller's log, or raise wait_timeout"
    except OSError as error:
        return NOT_FOUND, "", f"{argv[0]}: {error.strerror}; install the V-IPU programs or set the option program"
