# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a simulated switch sees around it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from podsim.eos.hardware import DCS_7060CX_32S
from podsim.eos.surroundings import Surroundings
from podsim.eos.switch import NoDataPlane


def test_a_process_that_ends_while_machines_are_looked_for_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "surroundings.json"
    file.write_text(json.dumps({"namespaces": {"Ethernet1/1": "/proc/self/ns/net"}}))
    look = os.stat

    def ended(path: Any, **options: Any) -> os.stat_result:
        if str(path).startswith("/proc/1/"):
            raise ProcessLookupError(3, "No such process", str(path))
        return look(path, **options)

    monkeypatch.setattr(os, "stat", ended)
    linked = Surroundings(NoDataPlane(DCS_7060CX_32S.ports), file).linked()
    assert linked == set(DCS_7060CX_32S.ports)
