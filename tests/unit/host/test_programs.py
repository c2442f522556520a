# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs of a host are run as root would find them."""

from __future__ import annotations

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host.programs import SEARCH_PATH, run_program

PLACES = ["sh", "-c", "echo $PATH"]


@pytest.mark.parametrize("of_this_process", [True, False])
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/usr/local/bin:/usr/bin:/bin", SEARCH_PATH),
        ("/opt/tools/bin:/usr/bin:/bin", f"/opt/tools/bin:{SEARCH_PATH}"),
        (f"/bin:{SEARCH_PATH}:/opt", f"/bin:{SEARCH_PATH}:/opt"),
    ],
)
def test_programs_for_root_are_found_also_after_su(
    path: str, expected: str, of_this_process: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", path if of_this_process else "/usr/bin")
    environment = None if of_this_process else {"PATH": path}
    assert run_program(["sh", "-c", "echo $PATH"], environment=environment)[1] == f"{expected}\n"
