#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Partitions of a V-IPU controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: vipu_partition
short_description: Partitions of a V-IPU controller
version_added: 1.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Does for partitions what M(ipu.pod.vipu_state) does for all kinds at once, the way roles use it; see there.
  - Takes the whole list, so that a loop over this module is never needed.
  - The rules for sizes, references and room count what is already there.
extends_documentation_fragment:
  [ipu.pod._attributes, ipu.pod._vipu, ipu.pod._vipu.admin, ipu.pod._vipu_entities, ipu.pod._vipu_entities.partitions,
   ipu.pod._vipu_entities.sizes]
seealso: [{module: ipu.pod.vipu_state}]
"""

EXAMPLES = r"""
- name: Create a partition of 16 IPUs in 4 GCDs, and one that several applications share
  ipu.pod.vipu_partition:
    partitions:
      - {name: train, allocation: alice, size: 16, gcds: 4, replicas: 4}
      - {name: shared, allocation: bob, size: 4, reconfigurable: true}
"""

RETURN = r"""
before: {description: As M(ipu.pod.vipu_state) returns it., type: dict, returned: success}
after: {description: As M(ipu.pod.vipu_state) returns it., type: dict, returned: success}
plan: {description: As M(ipu.pod.vipu_state) returns it., type: list, elements: dict, returned: success}
unmanaged:
  description: Names of the partitions that are there and not declared. They are never touched.
  type: dict
  returned: success
done: {description: As M(ipu.pod.vipu_state) returns it., type: list, elements: dict, returned: failure}
failed_step: {description: As M(ipu.pod.vipu_state) returns it., type: dict, returned: failure}
not_tried: {description: As M(ipu.pod.vipu_state) returns it., type: list, elements: dict, returned: failure}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._vipu.engine import run_module
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import PARTITION
from ansible_collections.ipu.pod.plugins.module_utils._vipu.options import options_of


def main() -> None:
    """Read, plan, apply, read again."""
    run_module(AnsibleModule(argument_spec=options_of([PARTITION]), supports_check_mode=True), [PARTITION])


if __name__ == "__main__":
    main()
