# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the modules for OpenStack clouds reach one. Private to the collection."""

from __future__ import annotations


class ModuleDocFragment:
    """The options of :mod:`_cloud.options` that both modules have."""

    DOCUMENTATION = r"""
options:
  entry:
    description:
      - Name of the cloud's entry in C(clouds.yaml), which openstacksdk finds in the working directory, in
        C(~/.config/openstack) and in C(/etc/openstack). Addresses and credentials stand there and nowhere else.
      - The user of the entry is the operator, who has the role C(admin).
    type: str
    required: true
requirements:
  - openstacksdk from 4.4 to 4.7, for the Python that runs the module
"""
