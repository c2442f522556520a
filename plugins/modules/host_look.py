#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read everything that a run compares on a Linux host."""

from __future__ import annotations

DOCUMENTATION = r"""
module: host_look
short_description: Everything that a run compares on a Poplar server or on the host of V-IPU controllers
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Reads what the roles and modules of this collection compare on a Linux host, in one call. Changes nothing.
  - Each part is read by itself, and all of them at the same time. A part that cannot be read has C(message) alone, in
    one line, and takes no other with it, so that this module does not fail for it.
  - What two parts need is read once.
extends_documentation_fragment: ipu.pod._attributes.reads
requirements:
  - root
  - what M(ipu.pod.rnic_network), M(ipu.pod.rnic_roce), M(ipu.pod.rnic_info) and M(ipu.pod.vipu_info) require, for the
    parts that are as theirs
options:
  parts:
    description:
      - The parts to read.
      - V(links) is all network interfaces and who configures them, V(uses) what uses them.
      - V(network) is what M(ipu.pod.rnic_network) gathers, and whether a change waits there.
      - V(roce) is what M(ipu.pod.rnic_roce) gathers, V(nics) what M(ipu.pod.rnic_info) returns, V(use) what
        M(ipu.pod.server_use) returns.
      - V(ipuof) is the files of M(ipu.pod.ipuof_config), V(leases) the leases that dnsmasq has given out.
      - V(containers) is the container engines and networks, as M(ipu.pod.container_networks) returns them.
      - V(domains) is what M(ipu.pod.domain_info) returns.
      - V(controllers) is what the V-IPU controllers of this host hold.
      - V(things) is what O(paths), O(texts), O(units), O(packages), O(accounts), O(kernel_parameters) and O(secrets)
        ask for.
    type: list
    elements: str
    choices: [links, network, uses, roce, nics, use, ipuof, containers, things, controllers, leases, domains]
    required: true
  minimum_speed: {description: "For V(nics), the least speed of a link, in Mbit/s.", type: int, default: 0}
  minimum_firmware: {description: "For V(nics), the oldest good firmware version.", type: str, default: 16.26.1040}
  roce_tools:
    description: For V(roce), the tools that read the settings. V(auto) takes the first kind that is installed.
    type: str
    choices: [auto, ofed, inbox]
    default: auto
  paths: {description: "For V(things), paths and globs to see the state of.", type: list, elements: str, default: []}
  texts:
    description:
      - For V(things), paths and globs of files whose texts are returned, as far as they are plain files, or link to
        one, of at most 64 KiB.
    type: list
    elements: str
    default: []
  units: {description: "For V(things), systemd units.", type: list, elements: str, default: []}
  packages: {description: "For V(things), packages that should be installed.", type: list, elements: str, default: []}
  accounts: {description: "For V(things), names of users.", type: list, elements: str, default: []}
  kernel_parameters: {description: "For V(things), names of C(sysctl).", type: list, elements: str, default: []}
  secrets:
    description:
      - For V(things), paths and globs of files that hold an access key. It is not returned, only what can be compared
        with that of another host, if both were given the same O(run_key).
    type: list
    elements: str
    default: []
  run_key: {description: "For V(things), a secret of the run, which O(secrets) are compared by.", type: str}
  controllers:
    description: For V(controllers), those that are asked in any case.
    type: list
    elements: dict
    default: []
    suboptions:
      name: {description: The vPOD of a dedicated controller; empty for that of the clusters., type: str, default: ""}
      admin_port: {description: TCP port of its admin end-point., type: int, default: 8091}
      storage: {description: Its storage file., type: path, default: /var/lib/vipu/vipu-server.json}
      config:
        description:
          - Configuration file of C(vipu-admin). Without it C(/etc/vipu/vipu-admin.hcl) is taken if it is there.
        type: path
  dedicated_units:
    description: For V(controllers), also look for dedicated controllers, which have a systemd unit each, and ask them.
    type: bool
    default: false
  ipuof_configurations:
    description:
      - For V(controllers), names of partitions whose IPUoF configurations are read from the controllers that have them.
    type: list
    elements: str
    default: []
seealso:
  - module: ipu.pod.rnic_network
  - module: ipu.pod.rnic_roce
  - module: ipu.pod.rnic_info
  - module: ipu.pod.server_use
  - module: ipu.pod.vipu_info
  - module: ipu.pod.container_networks
"""

EXAMPLES = r"""
- name: Look at the interfaces, what uses them, and some files
  ipu.pod.host_look:
    parts: [links, uses, things]
    paths: [/etc/ipuof.env.d, /etc/systemd/system/vipu-server*.service]
    units: [vipu-server.service]
  register: look

- name: Check that the controller runs
  ansible.builtin.assert:
    that: look.parts.things.units['vipu-server.service'].active == 'active'
"""

RETURN = r"""
parts:
  description: What was read of each part that was asked for, or C(message) alone, which says why it was not.
  returned: always
  type: dict
  contains:
    links:
      description:
        - C(links) by the kernel's name of the interface, and what decides who may change them (C(default_devices),
          C(ssh_addresses), C(services), C(claims), C(files), C(used_texts), C(pci), C(max_virtual_functions)).
      type: dict
    network:
      description:
        - C(gathered) and C(lasting) as M(ipu.pod.rnic_network) returns them.
        - C(pending), whether a change waits for its confirmation or is just being undone; C(refusal), the sentence with
          which a further change is refused, empty for none; C(undone), what the last undoing did, line by line, null
          for none; C(unloaded), a sentence for each interface whose file of others was edited and not loaded.
      type: dict
    uses:
      description:
        - C(mounts), each with the interface that it is reached through, C(netdevs) of the RDMA devices, C(queue_pairs),
          null where they cannot be listed, and C(functions), the virtual functions that are taken.
      type: dict
    roce:
      description:
        - C(gathered) and C(lasting) as M(ipu.pod.rnic_roce) returns them.
        - C(server), the settings by the kernel's name of the interface; C(unread), why those of an interface could not
          be read; C(files), the texts of the scripts and units that bring settings back, by path; C(starts), the links
          by which such units start with their device.
      type: dict
    nics: {description: C(nics) and C(minimum) as M(ipu.pod.rnic_info) returns them., type: dict}
    use: {description: C(in_use) and C(unknown) as M(ipu.pod.server_use) returns them., type: dict}
    ipuof: {description: "C(file) and C(foreign_file), as in RV(ignore:before) of M(ipu.pod.ipuof_config).", type: dict}
    things:
      description:
        - C(paths) has for each path that is there its C(kind) (V(file), V(directory), V(link) or V(other)), C(owner),
          C(group), C(mode), C(modified) in seconds since 1970, a file's C(sha256) and a link's C(target).
        - C(texts) has the text by path.
        - C(units) has for each unit whether it is C(there) and C(enabled), C(active) as systemd says it, and when it
          was last started, C(started) in seconds since boot and C(started_at) since 1970, null for never.
        - C(packages) has the C(missing) ones, whether that is C(unknown) because there is neither dpkg nor rpm, and
          C(distribution), C(distribution_version) and C(os_family) as Ansible's facts call them.
        - C(accounts) has those users that are there.
        - C(kernel_parameters) has the running values as text.
        - C(secrets) has for each file its C(text) with C((secret)) for the value of C(api-access-key), and C(secret),
          an HMAC of that value by O(run_key). A file without such a key is a secret as a whole, and has no checksum.
        - C(python) is the release of the Python that runs this module.
      type: dict
    controllers:
      description:
        - By name of the vPOD, empty for the controller of the clusters, whether its C(storage) is there, C(admin_port),
          whether its unit makes it C(secure), and what M(ipu.pod.vipu_info) returns, or C(message) instead of that.
        - C(ipuof_unread) says why the IPUoF configuration of a partition could not be read, C(allocates_by_agents)
          whether C(vipu-admin) here can make an allocation of given agents.
      type: dict
    containers: {description: "As RV(ignore:before) of M(ipu.pod.container_networks).", type: dict}
    domains: {description: C(domains) as M(ipu.pod.domain_info) returns them., type: dict}
    leases: {description: "C(text), the lines of the files with dnsmasq's leases.", type: dict}
  sample:
    use: {in_use: [], unknown: []}
    leases: {text: "1760000000 04:3f:72:00:01:02 10.5.1.101 pod001-poplar1 *\n"}
    roce: {message: "this server has neither mlnx_qos nor dcb; install MLNX_OFED, or iproute2 5.11 or later"}
"""

import os

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._host.files import Files
from ansible_collections.ipu.pod.plugins.module_utils._look.host import HostLook, looked
from ansible_collections.ipu.pod.plugins.module_utils._look.once import LIMIT, run_limited
from ansible_collections.ipu.pod.plugins.module_utils._look.things import distribution_from, texts_from
from ansible_collections.ipu.pod.plugins.module_utils._rnic.ssh_addresses import ssh_addresses
from ansible_collections.ipu.pod.plugins.module_utils._rnic.sysfs import Sysfs
from ansible_collections.ipu.pod.plugins.module_utils._vipu.connection import run_program

OS_RELEASE = "/etc/os-release"
PARTS = (
    *("links", "network", "uses", "roce", "nics", "use", "ipuof", "containers", "things", "controllers", "leases"),
    "domains",
)

CONTROLLER = {
    "name": {"type": "str", "default": ""},
    "admin_port": {"type": "int", "default": 8091},
    "storage": {"type": "path", "default": "/var/lib/vipu/vipu-server.json"},
    "config": {"type": "path"},
}

NAMES = {"type": "list", "elements": "str", "default": []}

ARGUMENTS = {
    "parts": {"type": "list", "elements": "str", "choices": list(PARTS), "required": True},
    "minimum_speed": {"type": "int", "default": 0},
    "minimum_firmware": {"type": "str", "default": "16.26.1040"},
    "roce_tools": {"type": "str", "choices": ["auto", "ofed", "inbox"], "default": "auto"},
    "paths": NAMES,
    "texts": NAMES,
    "units": NAMES,
    "packages": NAMES,
    "accounts": NAMES,
    "kernel_parameters": NAMES,
    # Names of files, which are no secrets.
    "secrets": dict(NAMES, no_log=False),
    "run_key": {"type": "str", "no_log": True},
    "controllers": {"type": "list", "elements": "dict", "default": [], "options": CONTROLLER},
    "dedicated_units": {"type": "bool", "default": False},
    "ipuof_configurations": NAMES,
}


def main() -> None:
    """Look and tell."""
    module = AnsibleModule(ARGUMENTS, supports_check_mode=True)

    def run_vipu(argv: list[str]) -> tuple[int, str, str]:
        return run_program(argv, LIMIT, "/", {})

    def distribution() -> dict[str, str]:
        return distribution_from("".join(texts_from([OS_RELEASE]).values()))

    look = HostLook(run_limited, run_vipu, Files(), Sysfs(), ssh_addresses(os.getpid()), module.params, distribution)
    module.exit_json(changed=False, parts=looked({part: getattr(look, part) for part in module.params["parts"]}))


if __name__ == "__main__":
    main()
