# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Works out which machines are to be attached to vPODs, and which detached. Everything that decides is pure."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.action import PodAction
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.pods_file import declaration_of
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.attachments import due

OPTIONS = {"looks": {"type": "dict"}}


class ActionModule(PodAction):
    """The thin shell."""

    spec = OPTIONS
    _supports_diff = False
    _requires_connection = False

    def result(self, options: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """The places to look at, and after the looks what is to be done."""
        declaration = declaration_of(variables, self._loader)
        places = sorted({machine.place for machine in declaration.machines.values()})
        return {"places": places, **({} if options["looks"] is None else due(declaration, options["looks"]))}
