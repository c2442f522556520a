#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What vPODs have in an OpenStack cloud, in one call."""

from __future__ import annotations

DOCUMENTATION = r"""
module: cloud_state
short_description: What vPODs have in an OpenStack cloud
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Makes a cloud hold the projects, role assignments, quotas, networks, flavors, images and machines of vPODs, all
    kinds in one call. Reads everything once, works out an ordered plan, carries it out, and reads everything again.
  - What it makes bears the mark C(ipu.pod:vpod=NAME), as a tag, in the metadata of machines and volumes, and in the
    description of what is made without tags. Only what bears a mark is ever changed or removed. A thing of the same
    name without one is refused.
  - What bears the mark of a vPOD that the options name, and is not in them, goes. What bears the mark of another vPOD
    is left alone.
  - Volumes are never deleted. A project goes only when it is empty, and a security group only when no port has it;
    otherwise they stay, and RV(kept) says for what.
  - A machine is deleted, made again, or loses a network or a volume only if O(allow_interruption) names its vPOD. One
    in C(ERROR) that never ran is made again without that.
  - What belongs to the machine of a vPOD's own V-IPU controller bears the mark C(ipu.pod:vpod=NAME:controller), and is
    declared and removed by C(NAME:controller) in place of the vPOD's name, so that it can go after all else.
  - The operator gets the role C(member) in projects in which volumes or machines are declared, as a step of the plan.
    In those of V-IPU controllers the role is C(admin), as only that sees a network that is not shared.
extends_documentation_fragment: [ipu.pod._attributes, ipu.pod._cloud]
options:
  projects:
    description: The projects of vPODs.
    type: list
    elements: dict
    default: []
    suboptions:
      name: {description: Its name., type: str, required: true}
      vpod: {description: Whose it is., type: str, required: true}
      domain: {description: "Its domain, in which its users are, too.", type: str, default: Default}
      description: {description: Its description., type: str}
  members:
    description: Users who have a role in a project. Those who have one of these roles and are not listed lose it.
    type: list
    elements: dict
    default: []
    suboptions:
      user: {description: Name of the user in Keystone., type: str, required: true}
      role: {description: The role., type: str, default: member}
      vpod: {description: Whose project it is., type: str, required: true}
      project: {description: The project., type: str, required: true}
  quotas:
    description: The quotas of projects. What is left out is kept.
    type: list
    elements: dict
    default: []
    suboptions:
      vpod: {description: Whose project it is., type: str, required: true}
      project: {description: The project., type: str, required: true}
      instances: {description: Machines., type: int}
      cores: {description: CPUs of all machines., type: int}
      ram: {description: Memory of all machines in MiB., type: int}
      volumes: {description: Volumes., type: int}
      gigabytes: {description: Size of all volumes in GiB., type: int}
  networks:
    description:
      - Provider networks of the operator's own project, of type VLAN and without port security, each shared with the
        project of its vPOD.
      - Another O(networks[].vlan) takes machines off the old one.
    type: list
    elements: dict
    default: []
    suboptions:
      name: {description: Its name., type: str, required: true}
      physical_network: {description: Neutron's name of the physical network., type: str, required: true}
      vlan: {description: Its VLAN., type: int, required: true}
      mtu: {description: Its MTU. Neutron's own choice by default., type: int}
      vpod: {description: Whose it is., type: str, required: true}
      project: {description: The project that it is shared with., type: str, required: true}
  subnets:
    description: The subnets of these networks, without DHCP and without a gateway.
    type: list
    elements: dict
    default: []
    suboptions:
      name: {description: Its name., type: str, required: true}
      vpod: {description: Whose it is., type: str, required: true}
      network: {description: Its network., type: str, required: true}
      cidr: {description: Its addresses., type: str, required: true}
      pools:
        description: "The addresses that Neutron may give, as C(FIRST-LAST)."
        type: list
        elements: str
        default: []
  security_groups:
    description: Security groups in the projects of vPODs.
    type: list
    elements: dict
    default: []
    suboptions:
      name: {description: Its name., type: str, required: true}
      rules:
        description: Who may send what to machines. What is not listed goes.
        type: list
        elements: dict
        default: []
        suboptions:
          protocol: {description: "The protocol, V(any) for all.", type: str, default: tcp}
          port: {description: "The port, or C(FIRST-LAST), or V(any).", type: str, default: any}
          remote: {description: The addresses of senders., type: str, required: true}
      vpod: {description: Whose it is., type: str, required: true}
      project: {description: The project that it is in., type: str, required: true}
  flavors:
    description:
      - Private flavors. Nova cannot change one, so one of another size is removed and made again, unless machines of
        tenants were made of it.
    type: list
    elements: dict
    default: []
    suboptions:
      name: {description: Its name., type: str, required: true}
      vcpus: {description: CPUs., type: int, required: true}
      ram: {description: Memory in MiB., type: int, required: true}
      disk: {description: Root disk in GiB., type: int, required: true}
      extra_specs: {description: Extra specs., type: dict, default: {}}
      vpod: {description: Whose it is., type: str, required: true}
      project: {description: The project that may use it., type: str, required: true}
  traits:
    description: Traits of hypervisors, by which Nova puts the machines of a vPOD there.
    type: list
    elements: dict
    default: []
    suboptions:
      name: {description: Its name., type: str, required: true}
      vpod: {description: Whose it is., type: str, required: true}
      hypervisors: {description: The hypervisors., type: list, elements: str, required: true}
  images:
    description:
      - Images, public, each from a file. Another file replaces the image, and what was there is hidden and stays for
        the machines that were made of it.
    type: list
    elements: dict
    default: []
    suboptions:
      name: {description: Its name., type: str, required: true}
      file: {description: Path of the file on the host that the module runs on., type: path, required: true}
      disk_format: {description: Its format., type: str, default: qcow2}
  volumes:
    description: Volumes. They grow, and never shrink.
    type: list
    elements: dict
    default: []
    suboptions:
      name: {description: Its name., type: str, required: true}
      size: {description: Its size in GiB., type: int, required: true}
      vpod: {description: Whose it is., type: str, required: true}
      project: {description: The project that it is in., type: str, required: true}
  servers:
    description: The machines that the operator keeps. Those of tenants are nobody's business here.
    type: list
    elements: dict
    default: []
    suboptions:
      name: {description: Its name., type: str, required: true}
      flavor: {description: Its flavor., type: str, required: true}
      image: {description: Its image., type: str, required: true}
      key: {description: The public SSH key that its first user gets., type: str}
      ports:
        description: Its ports, one on a network.
        type: list
        elements: dict
        default: []
        suboptions:
          network: {description: The network., type: str, required: true}
          address: {description: The address. Neutron's choice by default., type: str}
          security_groups: {description: Security groups of the port., type: list, elements: str, default: []}
          vnic_type:
            description:
              - V(normal) for a port of Open vSwitch, V(direct) for a virtual function of a NIC, by SR-IOV.
              - Neutron cannot change it where a machine has the port, so the machine is made again.
            type: str
            choices: [normal, direct]
            default: normal
      volumes: {description: Volumes that are attached to it., type: list, elements: str, default: []}
      vpod: {description: Whose it is., type: str, required: true}
      project: {description: The project that it is in., type: str, required: true}
  absent_vpods:
    description: VPODs, and V-IPU controllers of vPODs as C(NAME:controller), of which nothing is to stay.
    type: list
    elements: str
    default: []
  allow_interruption:
    description:
      - VPODs whose machines, and those of whose V-IPU controllers, may be deleted, made again, or lose a network or a
        volume.
    type: list
    elements: str
    default: []
  user_data:
    description:
      - Directory on the host that the module runs on with the user data of machines, for each vPOD a file C(VPOD.yml),
        as M(ipu.pod.cloud_user_data) writes it. None by default.
      - A machine gets that of its vPOD as it is made. Other user data change no machine that is there.
    type: path
  wait_timeout:
    description: How long one machine may take to become C(ACTIVE) or to go, and one volume to be there, in seconds.
    type: int
    default: 300
"""

EXAMPLES = r"""
- name: Give vPOD alice a project in which its users make machines
  ipu.pod.cloud_state:
    entry: cloud001
    projects:
      - {name: alice, vpod: alice}
    members:
      - {user: alice, project: alice, vpod: alice}
    networks:
      - {name: vpod-alice-rnic, physical_network: rnic, vlan: 101, mtu: 9000, project: alice, vpod: alice}
    subnets:
      - name: vpod-alice-rnic
        network: vpod-alice-rnic
        cidr: 10.5.0.0/16
        pools: [10.5.1.192-10.5.1.223]
        vpod: alice
  delegate_to: localhost

- name: Remove everything of vPOD bob, the machines that the operator keeps, too
  ipu.pod.cloud_state:
    entry: cloud001
    absent_vpods: [bob]
    allow_interruption: [bob]
  delegate_to: localhost
"""

RETURN = r"""
before: {description: "What concerns the options, by kind and name.", type: dict, returned: success}
after:
  description:
    - The same after. In check mode what it would be, without what only the cloud can tell, which is C(address) of
      ports and C(mtu) of networks where none is declared, and quotas of a new project that are not declared.
  type: dict
  returned: success
plan:
  description: The ordered steps, each with action, kind, name, reason and risk.
  type: list
  elements: dict
  returned: success
  sample: [{action: create, kind: network, name: vpod-alice-rnic, reason: is not there, risk: none}]
kept:
  description: A sentence for each project and security group that no vPOD has any more, and that stays.
  type: list
  elements: str
  returned: success
  sample:
    - "project bob: no vPOD has it any more, and it is kept for volume bob-data; remove that, and run again"
done: {description: The steps that were carried out before one failed., type: list, elements: dict, returned: failure}
failed_step: {description: "The step that failed, with the answer in C(error).", type: dict, returned: failure}
not_tried: {description: The steps after it., type: list, elements: dict, returned: failure}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._cloud.engine import run_module
from ansible_collections.ipu.pod.plugins.module_utils._cloud.options import OPTIONS


def main() -> None:
    """Read, plan, apply, read again."""
    run_module(AnsibleModule(argument_spec=OPTIONS, supports_check_mode=True))


if __name__ == "__main__":
    main()
