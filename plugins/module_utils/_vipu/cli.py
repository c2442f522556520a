# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The V-IPU controller through ``vipu-admin``, which every installation has. Knows no Ansible: it is given ``run``."""

from __future__ import annotations

import json
from typing import Any, Callable, List, Sequence, Tuple

from .._plan.converge import DeviceError
from .._plan.steps import CREATE, State, Step
from .dialect import create_arguments, read_entity
from .entities import KINDS, plural

Run = Callable[[List[str]], Tuple[int, str, str]]


class Controller:
    """One controller's admin end-point.

    Args:
        run: runs a command and returns exit code, output and errors.
        program: name or path of ``vipu-admin``.
        host: host name or address of the controller.
        port: its admin port.
    """

    def __init__(self, run: Run, program: str, host: str, port: int) -> None:
        self._run = run
        self._command = [program, "-H", host, "-P", str(port)]
        self._where = f"the V-IPU controller at {host}:{port}"

    def read(self, kinds: Sequence[str] = KINDS) -> State:
        """Everything of these kinds, with one request per kind.

        Raises:
            DeviceError: no answer, or one that cannot be understood (never taken for an empty list).
        """
        return {kind: self._list(kind) for kind in kinds}

    def carry_out(self, step: Step) -> None:
        """Create or remove one entity and wait until the controller says it is done."""
        if step.action == CREATE:
            self._vipu_admin(create_arguments(step.kind, step.name, step.after or {}))
        else:
            self._vipu_admin(["remove", step.kind, step.name])

    def server_version(self) -> str:
        """The controller's V-IPU release, for example ``1.18.0``."""
        answer = self._vipu_admin(["--server-version"])
        for line in answer.splitlines():
            if line.startswith("version:"):
                return line.split(":", 1)[1].strip()
        raise DeviceError(f"{self._where}: `--server-version` printed no version but {answer.strip()!r}")

    def _list(self, kind: str) -> dict[str, dict[str, Any]]:
        words = ["--showjson", "list", plural(kind)]
        answer = self._vipu_admin(words)
        try:
            return dict(read_entity(kind, entity) for entity in json.loads(answer)[plural(kind)])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DeviceError(
                f"{self._where}: `vipu-admin {' '.join(words)}` printed something that is not understood "
                f"({type(error).__name__} {error}): {answer.strip()[:80]!r}"
            ) from error

    def _vipu_admin(self, words: list[str]) -> str:
        code, output, errors = self._run(self._command + words)
        if code != 0:
            said = errors.strip() or output.strip() or f"exit code {code} without a word"
            raise DeviceError(f"{self._where}: `vipu-admin {' '.join(words)}` failed: {said}")
        return output
