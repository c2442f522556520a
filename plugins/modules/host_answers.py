#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Record what a Linux host answers to a look."""

from __future__ import annotations

DOCUMENTATION = r"""
module: host_answers
short_description: What the programs and files of a Poplar server or of the host of a V-IPU controller answer to a look
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Looks at NICs and V-IPU as M(ipu.pod.host_look) and M(ipu.pod.vipu_probe) do, and returns every answer as it is, but
    for secrets. Changes nothing.
  - What is missing, or fails, is an answer, too.
  - Names and addresses are in it. M(ipu.pod.first_contact) puts others in their place.
extends_documentation_fragment: ipu.pod._attributes.reads
requirements: [root]
options:
  parts:
    description: The parts of M(ipu.pod.host_look) that are looked at.
    type: list
    elements: str
    choices: [links, network, uses, roce, nics, use, controllers]
    required: true
  admin_port:
    description: TCP port of the admin end-point of the clusters' controller. Without it there is none on this host.
    type: int
seealso: [{module: ipu.pod.answers}, {module: ipu.pod.host_look}]
"""

EXAMPLES = r"""
- name: Record what the NICs answer
  ipu.pod.host_answers:
    parts: [links, nics]
  register: recorded
"""

RETURN = r"""
record:
  description:
    - C(answers), a list of questions and answers; a text is a list of its lines.
    - Which parts were looked at, in C(options), and the host's C(python) and C(ssh_addresses).
  returned: always
  type: dict
  sample: {kind: host, answers: [{asked: [program, uname, -r], status: 0, output: ["5.15.0", ""], errors: [""]}]}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._recording.host import PARTS, record_host

ARGUMENTS = {
    "parts": {"type": "list", "elements": "str", "choices": list(PARTS), "required": True},
    "admin_port": {"type": "int"},
}


def main() -> None:
    """Record and return."""
    module = AnsibleModule(ARGUMENTS, supports_check_mode=True)
    module.exit_json(changed=False, record=record_host(module.params["parts"], module.params["admin_port"]))


if __name__ == "__main__":
    main()
