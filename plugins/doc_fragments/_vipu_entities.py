# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of the modules that change a V-IPU controller. Private to the collection."""

from __future__ import annotations


class ModuleDocFragment:
    """The options of :mod:`_vipu.options`: what all of these modules take, and one fragment per kind of entity."""

    DOCUMENTATION = r"""
options:
  allow_recreate:
    description:
      - V-IPU has no command that changes an entity. One that is there with other fields is refused, unless this is set.
        Then it is removed and created again, with everything that depends on it, and whatever runs on partitions that
        die is lost. The plan names them.
      - What depends on it and is not declared would not come back, so then it is refused all the same.
      - What is not declared of an entity is chosen anew by the controller.
    type: bool
    default: false
  wait_timeout:
    description:
      - How long one command of the controller, and then the way of declared partitions to C(ACTIVE), may take, in
        seconds.
    type: int
    default: 120
  lock_timeout:
    description: How long to wait, in seconds, for another run that changes the same controller from this host.
    type: int
    default: 0
  new_controller:
    description:
      - The same run installs the controller. Only in check mode does this matter, the controller may then be missing
        and is taken to hold nothing. Otherwise a controller that does not answer is an error.
    type: bool
    default: false
  predicted:
    description:
      - What earlier tasks of the same run have made of the controller, as the C(after) that they returned.
      - Only in check mode does this matter, where they have not; it then counts instead of what is read.
    type: dict
    default: {}
"""

    AGENTS = r"""
options:
  agents:
    description: V-IPU agents, one per IPU-Machine.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Id of the agent.
        type: str
        required: true
      host:
        description: Management address or name of the IPU-Machine's gateway. Needed unless O(agents[].state=absent).
        type: str
      port:
        description: TCP port of the agent.
        type: int
        default: 8080
      state:
        description: Whether the agent is registered.
        type: str
        choices: [present, absent]
        default: present
"""

    CLUSTERS = r"""
options:
  clusters:
    description: Clusters of agents.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Id of the cluster.
        type: str
        required: true
      agents:
        description: Its agents in ILD-major order. Needed unless O(clusters[].state=absent).
        type: list
        elements: str
      topology:
        description: Topology of the IPU-Links. Without it the controller chooses.
        type: str
        choices: [mesh, torus]
      ipu_link_domains:
        description: Number of IPU-Link domains, in other words racks. Each has at most 16 agents.
        type: int
        default: 1
      looped:
        description: Whether the GW-Links between the IPU-Link domains form a loop.
        type: bool
      state:
        description: Whether the cluster exists.
        type: str
        choices: [present, absent]
        default: present
"""

    ALLOCATIONS = r"""
options:
  allocations:
    description: Allocations of whole IPU-Machines.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Id of the allocation.
        type: str
        required: true
      cluster:
        description: Cluster that it takes its IPU-Machines from. Needed unless O(allocations[].state=absent).
        type: str
      size:
        description: Number of IPUs, 4, 8, 16, 32, 64 or a multiple of 64. Needed unless O(allocations[].state=absent).
        type: int
      agents:
        description:
          - The agents that it is expected to have, in any order. Where the installed release can, the allocation is
            made of them. Otherwise the controller picks them by size, and if it picked others, that is reported as a
            failure.
        type: list
        elements: str
      state:
        description: Whether the allocation exists.
        type: str
        choices: [present, absent]
        default: present
"""

    USERS = r"""
options:
  users:
    description:
      - Users of the controller. Their access keys are shown at creation only, so a user is created only where
        O(key_directory) or O(return_keys) says where the key goes. Removing a user ends the key.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Id of the user.
        type: str
        required: true
      allocations:
        description: The allocations that the user may use, in any order.
        type: list
        elements: str
        default: []
      state:
        description: Whether the user exists.
        type: str
        choices: [present, absent]
        default: present
  key_directory:
    description:
      - Directory on the host that the module runs on. The access key of each new user goes into a file C(NAME.key) in
        it, mode 0600. A missing directory is made, mode 0700.
      - A declared user who was there before and whose file is missing is named in a warning, as the key cannot
        be read again.
    type: path
  return_keys:
    description: Return the access keys of new users in RV(ignore:access_keys). The task has to set C(no_log) then.
    type: bool
    default: false
"""

    PARTITIONS = r"""
options:
  partitions:
    description:
      - Partitions inside allocations. One that exists has to become C(ACTIVE) within O(wait_timeout), otherwise the
        module fails with the controller's errors.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Id of the partition.
        type: str
        required: true
      allocation:
        description: Allocation that it lies in. Needed unless O(partitions[].state=absent).
        type: str
      size:
        description:
          - Number of IPUs, 1, 2, 4, 8, 16, 32, 64 or a multiple of 64. Needed unless O(partitions[].state=absent).
        type: int
      gcds:
        description:
          - Number of graph compile domains (GCDs). Without it the controller makes one. Each has 1, 2, 4, 8, 16, 32 or
            64 IPUs and lies in one IPU-Link domain.
        type: int
      replicas:
        description:
          - Number of replicas over all GCDs, with 1, 2 or 4 IPUs each. Without it the controller makes one per GCD, of
            any size.
        type: int
      routing:
        description: Routing on the IPU-Links. Without it the controller chooses by size and topology.
        type: str
        choices: [dnc, swnc, btnc, ringswnc]
      gw_routing:
        description:
          - Routing on the GW-Links. Without it the controller chooses. V(default) expects that it chose none in
            particular.
        type: str
        choices: [default, ring, swring]
      sync_type:
        description: How the IPUs synchronise. Without it the controller chooses.
        type: str
        choices: [c2-compatible, pod-native-default, pod-native-replicated-pipeline]
      reconfigurable:
        description:
          - Whether several applications may share it. At most 64 IPUs and one GCD, and the sync type is
            V(c2-compatible).
        type: bool
        default: false
      index:
        description: Which of the places of its size it takes, counted from 0. At creation only, it is not read back.
        type: int
      relocatable:
        description:
          - Whether the controller may move it to other IPUs on errors. At creation only, it is not read back.
        type: bool
      disable_auto_reset:
        description:
          - Whether the controller leaves it alone after errors. At creation only, it is not read back.
        type: bool
      state:
        description: Whether the partition exists.
        type: str
        choices: [present, absent]
        default: present
  strict_sizes:
    description: Follow the vendor's lists of sizes to the letter. They leave out 32 IPUs for partitions and GCDs.
    type: bool
    default: false
  any_replica_size:
    description: Let an explicit number of replicas give them any number of IPUs, instead of 1, 2 or 4.
    type: bool
    default: false
"""
