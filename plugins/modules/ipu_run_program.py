#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name, which does all of it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: ipu_run_program
short_description: The program ipu-run, by which containers get IPUs
description:
  - Builds the program on the control node, from the parts of the collection that it needs, and copies it to the host,
    as one file that the host's Python executes.
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
extends_documentation_fragment: ipu.pod._attributes
attributes:
  diff_mode: {support: none, details: The file is no text.}
options:
  path: {description: Where to put it., type: path, required: true}
"""

EXAMPLES = r"""
- name: Install ipu-run
  ipu.pod.ipu_run_program:
    path: /usr/local/bin/ipu-run
"""

RETURN = r"""
dest: {description: Where it is., returned: always, type: str, sample: /usr/local/bin/ipu-run}
"""
