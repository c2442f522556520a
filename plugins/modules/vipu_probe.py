#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare the help and output of an installed V-IPU program with what this collection knows."""

from __future__ import annotations

DOCUMENTATION = r"""
module: vipu_probe
short_description: Compare an installed V-IPU program with what is known of it
version_added: 1.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Records what C(vipu-admin) says of its version and of each of its commands, what the controller says of its
    version, and what the JSON of its lists looks like, and compares that with what this collection relies on.
  - Changes nothing, and sends no other request to the controller than for its version and its lists.
extends_documentation_fragment: [ipu.pod._attributes.reads, ipu.pod._vipu, ipu.pod._vipu.admin]
"""

EXAMPLES = r"""
- name: Probe the installed program
  ipu.pod.vipu_probe:
  register: installed

- name: Show the differences
  ansible.builtin.debug:
    var: installed.differences
"""

RETURN = r"""
program_release: {description: The program's V-IPU release., type: str, returned: when it is understood, sample: 1.18.0}
server_release:
  description: V-IPU release of the controller.
  type: str
  returned: when it is understood
  sample: 1.18.0
commands:
  description:
    - One entry for each command and each of its flags, with C(command), C(flag) (empty for the command itself),
      C(known) (documented, seen, assumed or unknown), C(since) (the oldest release known to have it) and
      C(installed) (yes, no or not said).
  type: list
  elements: dict
  returned: success
table: {description: "RV(commands) for a person, one line each.", type: list, elements: str, returned: success}
differences:
  description: One sentence for everything in which the program differs from what is known.
  type: list
  elements: str
  returned: success
json:
  description: Kind to the places that the JSON of its entities has. An empty list says that there is no such entity.
  type: dict
  returned: success
  sample: {agents: [id, spec.host, spec.port, status.state]}
help: {description: "Command to what the program printed of it, null for nothing.", type: dict, returned: success}
problems:
  description: One sentence for each answer that is not understood, with the command. Nothing may be built on those.
  type: list
  elements: str
  returned: success
"""

from functools import partial
from typing import Any, Callable

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from ansible_collections.ipu.pod.plugins.module_utils._vipu.cli import Controller
from ansible_collections.ipu.pod.plugins.module_utils._vipu.connection import CONNECTION_OPTIONS, controller_of
from ansible_collections.ipu.pod.plugins.module_utils._vipu.dialect import ADMIN
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import plural
from ansible_collections.ipu.pod.plugins.module_utils._vipu.probe import (
    commands_of,
    differences,
    findings,
    lists_of,
    table,
)


def report_of(controller: Controller) -> dict[str, Any]:
    """Return the answers of the program and its controller; go on where one is not understood."""
    problems: list[str] = []

    def answer(ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except DeviceError as error:
            problems.append(str(error))
            return None

    def places(kind: str) -> list[str]:
        controller.read([kind])
        return controller.json_fields(kind)

    helps = {
        (command.verb, command.entity): controller.help(command.verb, command.entity) for command in commands_of(ADMIN)
    }
    rows = findings(ADMIN, helps)
    return {
        "program_release": answer(controller.program_version),
        "server_release": answer(controller.server_version),
        "commands": rows,
        "table": table(rows),
        "differences": differences(rows),
        "json": {plural(kind): answer(partial(places, kind)) for kind in lists_of(ADMIN)},
        "help": {" ".join(command): text for command, text in helps.items()},
        "problems": problems,
    }


def main() -> None:
    """Ask and return."""
    module = AnsibleModule(argument_spec=CONNECTION_OPTIONS, supports_check_mode=True)
    module.exit_json(changed=False, **report_of(controller_of(module)))


if __name__ == "__main__":
    main()
