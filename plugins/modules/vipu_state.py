#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Agents, clusters, allocations, users and partitions of a V-IPU controller, in one call."""

from __future__ import annotations

DOCUMENTATION = r"""
module: vipu_state
short_description: Agents, clusters, allocations, users and partitions of a V-IPU controller
version_added: 1.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Makes a V-IPU controller hold the declared entities, all kinds in one call. Reads everything once, works out an
    ordered plan, carries it out through C(vipu-admin), and reads everything again.
  - Entities that are neither declared nor in the scope of O(purge) are left alone, and returned in RV(unmanaged).
  - V-IPU has no command that changes an entity. One that is there with other fields is refused, unless
    O(allow_recreate) is set.
  - Sizes, names, references and room are checked before anything is sent.
  - Runs on a host with C(vipu-admin), one writer at a time.
  - Users are read only where O(users) is given or something may be removed.
extends_documentation_fragment:
  [ipu.pod._attributes, ipu.pod._vipu, ipu.pod._vipu.admin, ipu.pod._vipu_entities, ipu.pod._vipu_entities.agents,
   ipu.pod._vipu_entities.clusters, ipu.pod._vipu_entities.allocations, ipu.pod._vipu_entities.users,
   ipu.pod._vipu_entities.keys, ipu.pod._vipu_entities.partitions, ipu.pod._vipu_entities.sizes]
options:
  purge:
    description:
      - Where undeclared entities are removed. By default nowhere.
      - Tenants and Slurm make partitions of their own. Name them in O(purge.ignore) where they share an allocation with
        declared ones.
    type: dict
    default: {}
    suboptions:
      partitions_of: {description: Allocations whose partitions are purged., type: list, elements: str, default: []}
      allocations_of:
        description: Clusters whose allocations are purged. Their partitions have to go too, see O(purge.partitions_of).
        type: list
        elements: str
        default: []
      patterns: {description: Globs; only names that match one are purged., type: list, elements: str, default: ["*"]}
      ignore: {description: Globs; names that match one are never purged., type: list, elements: str, default: []}
      max_deletions:
        description: A run that would purge more entities than this is refused, with the list of them.
        type: int
        default: 0
"""

EXAMPLES = r"""
- name: Give a tenant the 4 IPUs of one IPU-Machine
  ipu.pod.vipu_state:
    agents:
      - {name: pod001-ipum1, host: 10.2.1.1}
    clusters:
      - {name: c001, agents: [pod001-ipum1]}
    allocations:
      - {name: alice, cluster: c001, size: 4}
    users:
      - {name: alice, allocations: [alice]}
    partitions:
      - {name: train, allocation: alice, size: 4, reconfigurable: true}
    key_directory: /etc/vipu/keys

- name: Keep only these partitions in the allocation, and those of Slurm
  ipu.pod.vipu_state:
    partitions:
      - {name: train, allocation: alice, size: 4, reconfigurable: true}
    purge:
      partitions_of: [alice]
      ignore: [p*]
      max_deletions: 2
"""

RETURN = r"""
before: {description: "All entities before, by kind and name.", type: dict, returned: success}
after:
  description:
    - All entities after. In check mode what they would be, without the fields that only the controller can tell.
    - These are C(status) and C(version) of agents; C(topology) and C(looped) of clusters, C(agents) of allocations,
      C(gcds), C(replicas), C(routing), C(gw_routing) and C(sync_type) of partitions, all of these unless declared;
      C(admin) of users; C(status) and C(errors) of partitions.
  type: dict
  returned: success
plan:
  description: The ordered steps, each with action, kind, name, reason and risk.
  type: list
  elements: dict
  returned: success
  sample: [{action: create, kind: agent, name: pod001-ipum1, reason: is not there, risk: none}]
unmanaged:
  description: Names of what is there and neither declared nor purged, by kind. It is never touched.
  type: dict
  returned: success
  sample: {agents: [], clusters: [], allocations: [], users: [], partitions: [p4711]}
access_keys:
  description: User to access key, for the users that this run created.
  type: dict
  returned: where O(return_keys) is set and users were created
done: {description: The steps that were carried out before one failed., type: list, elements: dict, returned: failure}
failed_step: {description: "The step that failed, with the answer in C(error).", type: dict, returned: failure}
not_tried: {description: The steps after it., type: list, elements: dict, returned: failure}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._vipu.engine import run_module
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import KINDS
from ansible_collections.ipu.pod.plugins.module_utils._vipu.options import PURGE_OPTION, options_of


def main() -> None:
    """Read, plan, apply, read again."""
    module = AnsibleModule(argument_spec=dict(options_of(KINDS), purge=PURGE_OPTION), supports_check_mode=True)
    run_module(module, KINDS)


if __name__ == "__main__":
    main()
