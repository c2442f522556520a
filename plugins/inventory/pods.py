# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Inventory plugin: one pods.yml gives every host, group, address, switch port and VLAN."""

from __future__ import annotations

DOCUMENTATION = r"""
name: pods
short_description: IPU pods as declared in pods.yml
version_added: 1.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Reads one file, C(pods.yml) or C(*.pods.yml), in which the owner declares pods, V-IPU controllers, clusters and
    vPODs, and derives every host, group, address and switch port from it.
  - Refuses a file that contradicts itself and says everything that is wrong at once, each with its key path.
  - IPU-Machines are appliances. They are in the inventory for their variables, no play runs on them.
  - The path of the file stands in the variable C(ipu_pod_file) of the group C(ipu_pods).
notes:
  - "Groups that always exist: C(ipu_pods) (everything), C(tor_switches), C(management_switches), C(switches) (both),
    C(poplar_servers), C(ipu_machines) and C(vipu_controllers), in the order in which devices are changed. C(vpod_NAME)
    holds the Poplar servers of a vPOD and the IPU-Machines that it is pinned to. Beside them one group a pod, named as
    the pod, and C(cluster_NAME)."
  - "C(ipu_pod_unmanaged) holds the devices that are only read; C(ipu_pod_unmanaged_switches),
    C(ipu_pod_unmanaged_servers) and C(ipu_pod_unmanaged_controllers) say it by layer, as a Poplar server may run a
    controller. Runs fill C(ipu_pod_concerned), C(ipu_pod_changing), C(ipu_pod_undecided), C(ipu_pod_idle), one group
    for each stage such as C(ipu_pod_stage_switches), and C(slurm_nodes). All of them always exist."
  - "C(slurm_controllers) and C(slurm_clients) are empty and always exist; other inventory files put hosts there."
  - "Host variables of an IPU-Machine: C(bmc_address), C(gateway_address), C(rnic_address), C(rnic_prefix), C(ipus),
    C(switch), C(switch_port) such as C(Ethernet9/1), C(rnic_vlan) where the file alone tells it."
  - "Host variables of a Poplar server: C(management_address), C(rnic_address), C(rnic_prefix), C(rnic_interface),
    C(switch), C(switch_port) of the first RNIC, C(switch_ports) of both, C(rnic_vlan), C(rnic_mtu) where declared."
  - "Host variables of a switch or of a controller with a host of its own: C(management_address)."
  - "Every one of them has C(ipu_pod), C(lrack) and C(number), where it stands in a pod, and C(ansible_host)."
options:
  plugin:
    description: Says that the file is for this plugin.
    type: str
    required: true
    choices: [ipu.pod.pods]
  schema:
    description: The version of the file's format.
    type: int
    required: true
    choices: [1]
  pods:
    description:
      - Pod name to its fields.
      - C(model) (required) is C(ipu-pod64) or C(bow-pod64).
      - C(lrack) (1 to 254, default 1) is the logical rack number.
      - C(addressing) is C(factory) (default, 10.1.x.z) or C(multi-rack) (10.x.lrack.z).
      - C(poplar_servers) (1 to 4, default 1) is how many stand in the rack.
      - C(rnic) holds C(interface) (name on the servers, default C(ens2f0)), C(vlan) (of RNICs that no vPOD has, with
        C(vni) and C(vlan_name)) and C(mtu) (bytes). Without them, what is there is kept.
      - C(tor) holds C(ipu_machine_order) (C(ascending), the default, or C(descending)), C(address), C(mtu) (bytes) and
        C(spanning_tree_edge) of the RNIC ports, C(roce) (C(reference), or a mapping of what differs from it),
        C(ports) (name to what is different there), C(spare_ports) (C(kept), the default, or C(quarantine)),
        C(descriptions) of the RNIC ports (by C(device), the default, or C(kept)) and C(canary) (devices or ports that
        are changed first). What is not said is kept.
      - C(vlans) maps names to VLAN ids (2 to 4094), or to C(id) and C(vni). Server ports carry them beside their
        tenant's, except the one that is called C(quarantine).
      - C(management_switch) holds C(address) (required), C(vlans) and C(ports). Nothing is derived for it.
      - C(names) holds the templates C(ipu_machine), C(poplar_server), C(tor_switch) and C(management_switch), of
        C({pod}), C({lrack}) and C({n}).
      - C(overrides) maps a device's name to the host variables that differ from what would be derived.
      - C(managed) lists what may be changed, of C(switch), C(servers) and C(controller) (default all). The rest is only
        read, and need not answer.
      - C(canary) lists switches and Poplar servers that are changed before all others; their pod comes before pods
        without.
      - C(excluded) lists IPU-Machines that are out of order. No vPOD gets them, their ports are kept as they are,
        nobody waits for them, and a run says at its end that it is degraded. A vPOD that has one stays there until the
        extra variable C(vpods_interrupt) names it.
      - C(hypervisors) lists Poplar servers that may be in several vPODs, each with one of the C(virtual_functions) (1
        to 127, default 8) of the RNIC.
    type: dict
    required: true
  controllers:
    description:
      - V-IPU controller name to its fields, either C(host) (a Poplar server's name) or C(address) (of a host of its
        own, which then has the controller's name).
      - C(mode) is C(insecure) (default) or C(secure), C(user_port) defaults to 8090, C(admin_port) to 8091.
      - C(strict_sizes) (default C(false)) follows the vendor's lists of partition sizes to the letter,
        C(any_replica_size) (default C(false)) lets replicas have any number of IPUs.
    type: dict
    default: {}
  clusters:
    description:
      - Cluster name to its fields, C(controller), C(pods) (in ILD order), C(topology) (C(mesh) or C(torus), default
        what the controller does) and C(looped).
      - C(spine) (default C(false)) says whether RNICs of different racks of the cluster reach each other. Without, a
        GCD's Poplar server has to stand in the rack of its IPUs.
    type: dict
    default: {}
  vpods:
    description:
      - vPOD name to its fields, C(state) (C(present), the default, or C(absent), then only C(cluster) is required),
        C(cluster), C(ipus) (4, 8, 16, 32, 64 and multiples of 64), C(poplar_servers) (names),
        C(vlan) (with C(vni) and C(vlan_name)), C(users) (needed where the controller is secure), C(ipu_machines)
        (pins), C(ipuof) (C(environment), the default, or C(files)) and C(partitions).
      - A partition has C(ipus), and may have C(gcds), C(replicas), C(reconfigurable), C(routing), C(gw_routing),
        C(sync_type), C(relocatable) and C(disable_auto_reset), which are as in M(ipu.pod.vipu_state), and
        C(poplar_servers) (those that use it, default all of the vPOD; with several GCDs one for each, or one for all).
      - C(controller) is C(shared) (default), which is that of the cluster, or C(dedicated) to the vPOD, on the same
        host, with C(controller_ports) (C(user), C(admin), C(metrics); default 10000 + 4 x C(vlan) and the next two).
      - C(virtual_function) is the number of the one that it has on its hypervisors, C(containers) C(macvlan) has its
        other servers say how containers get RNIC addresses of their own.
      - C(allocation) is its C(own) (default) or that of C(jobs), each of which then has one of some of its
        C(ipu_machines), made by Slurm's prolog. Such a vPOD has neither an allocation nor partitions.
    type: dict
    default: {}
"""

EXAMPLES = r"""
# pods.yml
plugin: ipu.pod.pods
schema: 1
pods:
  pod001: {model: bow-pod64, lrack: 1, addressing: multi-rack, poplar_servers: 4}
controllers:
  ctrl001: {host: pod001-poplar1}
clusters:
  c001: {controller: ctrl001, pods: [pod001], topology: torus}
vpods:
  alice:
    cluster: c001
    ipus: 16
    vlan: 101
    poplar_servers: [pod001-poplar1]
    partitions:
      train: {ipus: 16, reconfigurable: true}
"""

from pathlib import Path
from typing import Any

from ansible.errors import AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._inventory.hosts import (
    CONTROLLERS,
    EVERYTHING,
    groups,
    host_variables,
    pod_groups,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.schema import DeclarationError


class InventoryModule(BaseInventoryPlugin):
    """The thin shell: read the file, hand the derived hosts and groups to Ansible."""

    NAME = "ipu.pod.pods"
    # pods.yml is the owner's own, as any inventory.
    trusted_by_default = True

    def verify_file(self, path: str) -> bool:
        """Only files that say by their name that they are for this plugin."""
        return super().verify_file(path) and path.endswith(("pods.yml", "pods.yaml"))

    def parse(self, inventory: Any, loader: Any, path: str, cache: bool = False) -> None:
        """Fill the inventory, or refuse the file with everything that is wrong with it."""
        super().parse(inventory, loader, path, cache)
        document = loader.load_from_file(path, cache="none")
        try:
            declaration = parse_declaration(document)
        except DeclarationError as error:
            raise AnsibleParserError("\n".join([f"{path} is refused:", *error.problems])) from None
        inventory.add_group(EVERYTHING)
        inventory.set_variable(EVERYTHING, "ipu_pod_file", str(Path(path).resolve()))
        for host, variables in host_variables(declaration).items():
            inventory.add_host(host)
            for name, value in variables.items():
                inventory.set_variable(host, name, value)
        for group, members in {**pod_groups(declaration), **groups(declaration)}.items():
            inventory.add_group(group)
            for host in members:
                inventory.add_host(host, group)
        for child in (*pod_groups(declaration), CONTROLLERS):
            inventory.add_child(EVERYTHING, child)
