#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name, which does all of it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: cloud_user_data
short_description: Writes the user data of a vPOD's machines in a cloud
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Writes what cloud-init gives such a machine into a file on the control node that nobody else can read, the V-IPU
    client with its credentials and the IPUoF settings, as the role P(ipu.pod.vpod#role) gives them to a server.
  - Runs on the host of the vPOD's V-IPU controller, and reads the credentials there. They are in no result.
extends_documentation_fragment: ipu.pod._attributes
attributes:
  diff_mode: {support: none, details: The file holds an access key.}
options:
  vpod: {description: Name of a vPOD that has something in a cloud., type: str, required: true}
  directory:
    description: Directory on the control node, in which the file is called C(VPOD.yml). Made if it is not there.
    type: path
    required: true
"""

EXAMPLES = r"""
- name: Write the user data of alice's machines
  ipu.pod.cloud_user_data:
    vpod: alice
    directory: /root/user-data
  delegate_to: ctrl001
"""

RETURN = r"""
path: {description: The file., returned: success, type: str}
"""
