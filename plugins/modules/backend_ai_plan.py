#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name, which does all of it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: backend_ai_plan
short_description: What Backend.AI's agents get, so that they have IPUs
description:
  - Works out, from pods.yml, what the agent on each Poplar server of a vPOD gets. Asks no host.
  - A contradiction between pods.yml and what the owner chose is an error of one sentence.
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
extends_documentation_fragment: ipu.pod._attributes.reads
options:
  choice:
    description: Variables of the role P(ipu.pod.backend_ai_agent#role), without C(backend_ai_agent_).
    type: dict
    required: true
  server: {description: "The Poplar server that O(found) is of, by its name in pods.yml.", type: str}
  found: {description: What M(ipu.pod.backend_ai_info) returns there. Without it there are no RV(refusals)., type: dict}
"""

EXAMPLES = r"""
- name: Plan the agent
  ipu.pod.backend_ai_plan:
    choice: "{{ backend_ai_agent_choice }}"
    server: "{{ inventory_hostname }}"
    found: "{{ backend_ai_agent_found }}"
  register: backend_ai_agent_planned
"""

RETURN = r"""
agents:
  description: Poplar server to its agent.
  returned: success
  type: dict
  sample:
    pod001-poplar1:
      partition: ml-poplar1
      ipus: 16
      source: /etc/ipuof.conf.d/ml-poplar1_ipuof.conf
      network: ipu-ml
      files: {}
wheel:
  description: Name and SHA-256 of the plugin's wheel, where one is chosen.
  returned: success
  type: dict
  sample: {name: backend_ai_accelerator_graphcore_ipu-26.9.6-py3-none-any.whl, sha256: "0f343b09..."}
refusals: {description: "What is in the way on the server, one sentence each.", returned: success, type: list,
  elements: str, sample: ["Docker does not answer (...); start it"]}
"""
