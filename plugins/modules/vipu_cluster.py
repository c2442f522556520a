#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters of agents of a V-IPU controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: vipu_cluster
short_description: Clusters of agents of a V-IPU controller
version_added: 1.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Does for clusters what M(ipu.pod.vipu_state) does for all kinds at once, the way roles use it; see there.
  - Takes the whole list, so that a loop over this module is never needed.
extends_documentation_fragment:
  [ipu.pod._attributes, ipu.pod._vipu, ipu.pod._vipu.admin, ipu.pod._vipu_entities, ipu.pod._vipu_entities.clusters]
seealso: [{module: ipu.pod.vipu_state}]
"""

EXAMPLES = r"""
- name: Join two racks in one cluster
  ipu.pod.vipu_cluster:
    clusters:
      - name: c001
        agents: "{{ agents_of_rack_1 + agents_of_rack_2 }}"
        ipu_link_domains: 2
        topology: torus
        looped: true
"""

RETURN = r"""
before: {description: As M(ipu.pod.vipu_state) returns it., type: dict, returned: success}
after: {description: As M(ipu.pod.vipu_state) returns it., type: dict, returned: success}
plan: {description: As M(ipu.pod.vipu_state) returns it., type: list, elements: dict, returned: success}
unmanaged:
  description: Names of the clusters that are there and not declared. They are never touched.
  type: dict
  returned: success
done: {description: As M(ipu.pod.vipu_state) returns it., type: list, elements: dict, returned: failure}
failed_step: {description: As M(ipu.pod.vipu_state) returns it., type: dict, returned: failure}
not_tried: {description: As M(ipu.pod.vipu_state) returns it., type: list, elements: dict, returned: failure}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._vipu.engine import run_module
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import CLUSTER
from ansible_collections.ipu.pod.plugins.module_utils._vipu.options import options_of


def main() -> None:
    """Read, plan, apply, read again."""
    run_module(AnsibleModule(argument_spec=options_of([CLUSTER]), supports_check_mode=True), [CLUSTER])


if __name__ == "__main__":
    main()
