#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what a server has of Backend.AI's agent."""

from __future__ import annotations

DOCUMENTATION = r"""
module: backend_ai_info
short_description: Read what a server has of Backend.AI's agent
description:
  - Reads the agent's unit, its IPU plugin, Docker's networks and sessions, and the IPUs that C(gc-monitor) shows.
    Changes nothing.
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
extends_documentation_fragment: ipu.pod._attributes.reads
options:
  service: {description: The agent's unit., type: str, default: backendai-agent.service}
  python: {description: The Python of the agent's virtual environment., type: path, required: true}
  environment: {description: "The agent's own variables, with which C(gc-monitor) is found.", type: dict, default: {}}
  configuration: {description: The IPUoF configuration of the agent's partition., type: path, required: true}
  copy: {description: What the agent reads of O(configuration)., type: path, default: /etc/backend.ai/ipuof.conf}
  reads: {description: The files that the agent reads when it starts., type: list, elements: path, default: []}
"""

EXAMPLES = r"""
- name: Read what there is of Backend.AI's agent
  ipu.pod.backend_ai_info:
    python: /opt/backend.ai/venv/bin/python
    configuration: /etc/ipuof.conf.d/ml-poplar1_ipuof.conf
  register: backend_ai
"""

RETURN = r"""
found:
  description: What was found. What does not answer has only a C(message).
  returned: always
  type: dict
  contains:
    unit:
      description:
        - Whether the agent is installed, and whether it runs.
        - C(newer) are the files of O(reads), and of the plugin, that are newer than its start.
        - C(hidden_by) is what the agent reads instead of C(/etc/backend.ai/ipu.toml).
      type: dict
    plugin:
      description: The plugin's entry, its version, and the SHA-256 of its wheel where pip knows it; empty without one.
      type: dict
    docker:
      description: Networks with their IPv4 subnets, containers of sessions, and Docker's security options.
      type: dict
    ipus:
      description: The IPUs in O(configuration), those that C(gc-monitor) shows, and whether O(copy) is V(missing), the
        V(same) or an V(other) file.
      type: dict
    has_rdma: {description: Whether there is C(/dev/infiniband)., type: bool}
  sample:
    unit: {is_installed: true, is_active: true, newer: [], hidden_by: []}
    plugin: {value: "ai.backend.accelerator.ipu.plugin:IPUPlugin", version: 26.9.6, sha256: ""}
    docker: {security: ["name=seccomp,profile=default"], networks: {ipu-ml: [10.5.0.0/16]}, sessions: []}
    ipus: {in_file: ["10.5.1.1:0"], shown: ["10.5.1.1:0"], copied: same}
    has_rdma: true
"""

import os
import subprocess
from typing import Mapping, Sequence

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._backend_ai_host.look import Agent, look
from ansible_collections.ipu.pod.plugins.module_utils._host.programs import TIMED_OUT, Programs, run_program

ARGUMENTS = {
    "service": {"type": "str", "default": "backendai-agent.service"},
    "python": {"type": "path", "required": True},
    "environment": {"type": "dict", "default": {}},
    "configuration": {"type": "path", "required": True},
    "copy": {"type": "path", "default": "/etc/backend.ai/ipuof.conf"},
    "reads": {"type": "list", "elements": "path", "default": []},
}
# No answer takes longer, in seconds.
LIMIT = 60.0


def run(argv: Sequence[str], variables: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    """Run a program, with more variables, to its end or to the limit."""
    try:
        return run_program(argv, LIMIT, environment={**os.environ, "LC_ALL": "C", **(variables or {})})
    except subprocess.TimeoutExpired:
        return TIMED_OUT, "", f"no end after {LIMIT:g} s"


def main() -> None:
    """Look and tell."""
    module = AnsibleModule(ARGUMENTS, supports_check_mode=True)
    options = dict(module.params)
    options["environment"] = {str(name): str(value) for name, value in options["environment"].items()}
    module.exit_json(changed=False, found=look(Agent(**options), Programs(run), run))


if __name__ == "__main__":
    main()
