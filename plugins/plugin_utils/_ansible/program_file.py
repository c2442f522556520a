# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The base of action plugins that copy one of our programs, which they build here, to a host."""

from __future__ import annotations

from typing import Any, ClassVar

from .._programs.build import program
from .copying import CopyingAction

OPTIONS = {"path": {"type": "path", "required": True}}


class ProgramAction(CopyingAction):
    """Builds the file whose entry is in ``room``."""

    spec = OPTIONS
    room: ClassVar[str]

    def result(self, options: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """The result of the copy."""
        owned = {"owner": "root", "group": "root", "mode": "0755"}
        return self.copied(program(self.room), options["path"], variables, **owned)
