# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A steady flow in the background, while something else happens to the pod."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from types import TracebackType

import pytest

from tests.support.checkout import ROOT
from tests.support.packets.flow import Report
from tests.support.packets.ports import Port


class RunningFlow:
    """Between the first port of each name and the others of it, from the moment when all of them answer."""

    def __init__(self, streams: Mapping[str, Sequence[Port]]) -> None:
        text = json.dumps({name: [asdict(port) for port in ports] for name, ports in streams.items()})
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.packets.flow", text],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> RunningFlow:
        assert self._process.stdout
        output = self._process.stdout.readline()
        if output != "flowing\n":
            self.__exit__(None, None, None)
            pytest.fail(f"not every stream came back: {output}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def end(self) -> dict[str, Report]:
        """Let it end; what became of it, by name."""
        output, _ = self._process.communicate()
        reports: dict[str, Report] = {name: Report(**report) for name, report in json.loads(output).items()}
        return reports
