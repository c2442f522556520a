#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name, which does all of it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: backend_ai_agent_config
short_description: Backend.AI's agent may load the IPU plugin
description:
  - Adds the IPU plugin to C(allow-compute-plugins), and IPUs to C(allocation-order), in the configuration file of
    Backend.AI's agent. Everything else in the file, with comments and order, stays as its owner has written it.
  - Refuses a file that is no TOML, one that blocks the plugin, and one whose agent has another engine than Docker.
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
extends_documentation_fragment: ipu.pod._attributes
attributes:
  diff_mode: {support: none, details: The file has the password of etcd.}
requirements:
  - tomlkit on the control node
options:
  path: {description: The file., type: path, required: true}
  scratch_root: {description: "C(scratch-root) of C([container]); by default it is left alone.", type: str, default: ""}
"""

EXAMPLES = r"""
- name: Allow the plugin in agent.toml
  ipu.pod.backend_ai_agent_config:
    path: /etc/backend.ai/agent.toml
"""

RETURN = r"""
path: {description: The file., returned: success, type: str, sample: /etc/backend.ai/agent.toml}
"""
