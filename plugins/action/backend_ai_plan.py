# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Works out what Backend.AI's agents get. Everything that decides is pure."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.action import PodAction
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.pods_file import declaration_of
from ansible_collections.ipu.pod.plugins.plugin_utils._backend_ai_files.agents import agents_of
from ansible_collections.ipu.pod.plugins.plugin_utils._backend_ai_files.fits import refusals
from ansible_collections.ipu.pod.plugins.plugin_utils._backend_ai_files.wheel import wheel_from

OPTIONS = {"choice": {"type": "dict", "required": True}, "server": {"type": "str"}, "found": {"type": "dict"}}


class ActionModule(PodAction):
    """The thin shell."""

    spec = OPTIONS
    _requires_connection = False

    def result(self, options: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """All agents, the plugin, and what is in the way on one server where that is known."""
        choice, server, found = options["choice"], options["server"], options["found"]
        agents = agents_of(declaration_of(variables, self._loader), choice)
        wheel = wheel_from(choice["plugin"]) if choice["plugin"] else None
        return {
            "agents": {name: asdict(agent) for name, agent in agents.items()},
            "wheel": {"name": wheel.name, "sha256": wheel.sha256} if wheel else {},
            "refusals": refusals(agents[server], found, choice) if found else [],
        }
