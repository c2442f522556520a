#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name, which does all of it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: backend_ai_plugin
short_description: Backend.AI's IPU plugin as a wheel on a host
description:
  - Copies the wheel of the plugin to a host. Of a checkout of Backend.AI's repository it makes one.
  - Does not install it.
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
extends_documentation_fragment: ipu.pod._attributes
attributes:
  diff_mode: {support: none, details: The file is no text.}
options:
  plugin:
    description: A wheel, or a checkout, which has C(src/ai/backend/accelerator/ipu/plugin.py), on the control node.
    type: path
    required: true
  directory: {description: Where to put it; the directory has to be there., type: path, required: true}
"""

EXAMPLES = r"""
- name: Copy the plugin
  ipu.pod.backend_ai_plugin:
    plugin: /srv/checkouts/backend.ai
    directory: /var/lib/ipu-pod/backend-ai
"""

RETURN = r"""
dest:
  description: Where it is.
  returned: always
  type: str
  sample: /var/lib/ipu-pod/backend-ai/backend_ai_accelerator_graphcore_ipu-26.9.6-py3-none-any.whl
"""
