#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""RDMA interfaces of a Poplar server: addresses, MTU, VLANs, bonds and virtual functions."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rnic_network
short_description: RDMA interfaces of a Poplar server, with VLANs, bonds and virtual functions
description:
  - Gives the RNICs of a Poplar server their addresses and MTU, tagged VLAN interfaces, a bond over both ports of a NIC
    (VF-LAG), and SR-IOV virtual functions, running and persistent.
  - Works with systemd-networkd, netplan and NetworkManager, each by files of its own kind that carry a header;
    files of others are never changed. Both these files and what the kernel shows are compared with what is declared;
    one without the other is drift and is repaired.
  - A NIC that is as declared by a file of others, now and after a restart, stays with that file and gets none of its
    own. O(state=replaced) gives it one.
  - Whatever is not declared is kept as the interface's own files say, or without them as it is running. It then stands
    in the files, too, so that a reboot keeps it.
  - A change cannot lock you out. Before anything is touched the server gets a script, a timer and a boot unit that put
    the old files and the old running settings back. Then all interfaces are changed at once, the module waits until
    the kernel shows what is declared, and the change is confirmed over a new connection. Where that does not come in
    time, because the server cannot be reached, the control node died or the server was restarted, the server rolls
    the change back by itself. Without a change nothing of that happens.
  - The interfaces that carry a default route or the SSH connection in use are never changed, and neither is any
    interface below or above them. Interfaces have no gateway and take none, neither by DHCP nor from IPv6 routers.
  - A change that would disturb what uses an interface is refused with the names of the users. Users are mounts of other
    hosts' file systems that are reached through it, RDMA queue pairs other than the kernel's own two per port, and
    virtual functions that are given to a virtual machine, are in another network namespace or have an address.
    Users of interfaces above count, too, and for queue pairs those of interfaces below. A mount whose server's address
    is unknown counts for every interface. FUSE mounts of other users than root do not count. Queue pairs that cannot be
    listed count as in use where the server has RDMA devices.
  - A change of files alone, and a new VLAN on an interface, end no connection and are never refused for users.
version_added: 1.0.0
author: The ipu.pod authors (@ipu-pod)
extends_documentation_fragment: ipu.pod._attributes
requirements:
  - root
  - systemd 245 or later, with systemd-networkd or NetworkManager 1.30 or later running
  - netplan 0.104 or later, with systemd-networkd as its renderer, where netplan configures the interfaces
  - iproute2 with JSON output; its program C(rdma) on servers with RDMA devices
options:
  interfaces:
    description:
      - The interfaces to configure. Others are left alone.
      - A VLAN's parent and a bond's members are declared in the same list, at least by their names.
      - Ignored for O(state=gathered), required otherwise.
    type: list
    elements: dict
    suboptions:
      name:
        description:
          - Name of the interface as the kernel has it, at most 15 characters.
          - For a NIC with O(interfaces[].mac) or O(interfaces[].pci) it is only a label in the files' names.
        type: str
        required: true
      type:
        description:
          - V(nic) is hardware, also a virtual function that this server uses itself, found by its MAC.
          - V(vlan) is a tagged VLAN on O(interfaces[].parent).
          - V(bond) is one interface over O(interfaces[].members).
        type: str
        choices: [nic, vlan, bond]
        default: nic
      state:
        description:
          - V(absent) takes away a VLAN or bond of this module by O(interfaces[].name) and O(interfaces[].type), running
            and persistent. What it is on is declared, too.
        type: str
        choices: [present, absent]
        default: present
      mac:
        description:
          - MAC address that finds the NIC, whatever the kernel calls it. It is the one that the NIC was built with.
          - Without it and O(interfaces[].pci), the NIC is found by O(interfaces[].name).
        type: str
      pci:
        description: PCI address that finds the NIC, like V(0000:81:00.0). The files name it as the kernel does now.
        type: str
      addresses:
        description:
          - All addresses of the interface with their prefix length; other addresses are taken away.
          - An empty list takes all addresses away. Not declared, addresses are kept. Members of a bond have none.
        type: list
        elements: str
      mtu:
        description:
          - MTU in bytes, within what the NIC's driver takes. Not declared, it is kept; a new VLAN has the MTU of its
            parent, a new bond 1500. Members of a bond have that of the bond.
        type: int
      description:
        description: A line for people, which stands in the file. Not declared, it is kept; empty for none.
        type: str
      parent: {description: "For a VLAN, the O(interfaces[].name) of its declared NIC or bond.", type: str}
      vlan_id: {description: "For a VLAN, its number, 1 to 4094. To change it, make it absent first.", type: int}
      members:
        description:
          - For a bond, the O(interfaces[].name) of its declared NICs. They must be ports of the same NIC,
            because RoCE goes over no other bond.
        type: list
        elements: str
      mode:
        description: For a bond, its mode. To change it, make the bond absent first.
        type: str
        choices: [active-backup, 802.3ad]
      virtual_functions:
        description:
          - For a NIC, all its SR-IOV virtual functions. An empty list takes them away. Not declared, they are kept.
          - A systemd unit, C(ipu-vf-NAME.service), makes them at boot. Another number of functions takes all of them
            away for a moment, which is refused while one is in use.
          - Where their number stays and nothing else of the NIC changes, only functions with other settings are
            touched, and only these must not be in use.
          - How many are possible is a setting of the NIC's firmware.
        type: list
        elements: dict
        suboptions:
          index: {description: "Number of the function, from 0 without gaps.", type: int, required: true}
          mac: {description: Its MAC address., type: str, required: true}
          vlan: {description: "The VLAN that all its frames get, 1 to 4094; V(0) for none.", type: int, default: 0}
          trust:
            description: Whether its user may change the MAC address and receive what is for others.
            type: bool
            default: false
          spoof_check: {description: Whether the NIC drops its frames with another MAC., type: bool, default: true}
  new_service:
    description:
      - The same run starts systemd-networkd. Only in check mode does this matter, the service may then be stopped.
        Otherwise a stopped service is refused.
    type: bool
    default: false
  backend:
    description:
      - Who configures the interfaces on this server. V(auto) takes who does it now, or else whose service runs.
      - An interface that two of them configure is refused, and so is one that another one than declared configures.
      - V(netplan) uses C(netplan generate) and has systemd-networkd load the result, because C(netplan apply) would
        reconfigure the management interface, too. As netplan writes all its generated files anew, a management
        interface with DHCP asks for its address again. Where others have edited netplan's files without applying them,
        the change is refused.
      - V(networkmanager) takes addresses away some seconds after the carrier is lost, unless its C(ignore-carrier)
        covers the interface. The two others keep them, so that RoCE GIDs survive a flapping switch port.
      - Required for O(state=rendered), where there is no server to ask.
    type: str
    choices: [auto, networkd, netplan, networkmanager]
    default: auto
  confirm_within:
    description:
      - Seconds, 20 to 3600, within which a change has to be confirmed over a new connection. After that, the server
        puts the old settings back by itself. Half of it, at most 30 seconds, is for the interfaces to come up.
    type: int
    default: 120
  phase:
    description: Set by the action plugin of this module. Leave it alone.
    type: str
    choices: [change, confirm, review]
    default: change
  change: {description: Set by the action plugin of this module. Leave it alone., type: str, default: ""}
  state:
    description:
      - V(merged) makes the declared interfaces what is declared, and keeps their other settings.
      - V(replaced) gives their other settings the defaults, no addresses, MTU 1500 (for a VLAN that of its parent), no
        description and no virtual functions. Interfaces that are not declared are left alone.
      - V(rendered) returns the files as RV(rendered), without looking at the server. A NIC that is declared
        with O(interfaces[].pci) is named there as it is declared.
      - V(gathered) changes nothing and returns RV(gathered).
    type: str
    choices: [merged, replaced, rendered, gathered]
    default: merged
notes:
  - While a change waits for its confirmation, C(/var/lib/ipu-pod/rnic-network) holds the old files and the script
    C(undo), which can also be run by hand with C(systemctl start ipu-rnic-undo). Both are gone afterwards.
  - The script puts each old file back as a whole, or leaves the present one as it is, on a full disk for example. It is
    then tried again every 30 seconds and at the next boot. C(journalctl -u ipu-rnic-undo) tells what it did.
  - The next run is refused while an earlier change waits.
  - systemd-networkd reads the files of all interfaces at once. A change is refused where somebody edited or removed
    the file that an interface is configured from, and did not have that loaded. A new file of others, and a drop-in,
    do not show whether they are loaded; what they say comes into force with the change.
  - systemd-networkd takes away routes that were set by hand on an interface whenever it looks at its files again, also
    when a VLAN comes or goes on it. No such route is put back.
"""

EXAMPLES = r"""
- name: Give both RNIC ports their address and jumbo frames
  ipu.pod.rnic_network:
    interfaces:
      - {name: rnic0, mac: "04:3f:72:00:01:02", addresses: [10.5.1.101/16], mtu: 9000, description: IPU data plane}
      - {name: rnic1, mac: "04:3f:72:00:01:03", mtu: 9000}

- name: Put a tenant and the storage on VLANs of a bond over both ports, and remove another tenant's VLAN
  ipu.pod.rnic_network:
    interfaces:
      - {name: rnic0, pci: "0000:81:00.0"}
      - {name: rnic1, pci: "0000:81:00.1"}
      - {name: bond0, type: bond, members: [rnic0, rnic1], mode: 802.3ad, mtu: 9000}
      - {name: bond0.101, type: vlan, parent: bond0, vlan_id: 101, addresses: [10.5.1.101/16]}
      - {name: bond0.300, type: vlan, parent: bond0, vlan_id: 300, addresses: [10.6.1.101/24], mtu: 1500}
      - {name: bond0.102, type: vlan, state: absent}

- name: Create two virtual functions for virtual machines
  ipu.pod.rnic_network:
    interfaces:
      - name: rnic0
        virtual_functions:
          - {index: 0, mac: "02:00:00:00:01:00", vlan: 101}
          - {index: 1, mac: "02:00:00:00:01:01", vlan: 102}

- name: Read the present configuration
  ipu.pod.rnic_network:
    state: gathered
  register: rnics
"""

RETURN = r"""
before:
  description:
    - The declared interfaces as they were, under C(interface), by declared name, without those that did not exist.
    - Each has C(type), C(device), C(up), C(mtu) in bytes and C(addresses) as they are running, C(network_file) as the
      path that the device is configured from (null for none), and C(files) as the interface's own files by path.
    - A NIC also has C(mac), C(bond) (empty for none) and C(virtual_functions), a VLAN C(parent) and C(vlan_id), a bond
      C(members) and C(mode). An interface that has files, but does not exist, has the C(device) null.
  returned: when O(state) is V(merged) or V(replaced) and the request was not refused
  type: dict
  sample:
    interface:
      rnic0: {type: nic, device: rnic0, mac: "04:3f:72:00:01:02", up: true, mtu: 1500, addresses: [], bond: "",
              virtual_functions: [], network_file: null, files: {}}
after:
  description:
    - The same as RV(before) after the change, read again from the server over the new connection. In check mode what it
      would be. Null where it could not be read.
  returned: with RV(before)
  type: dict
diff:
  description: The fields of RV(before) and RV(after) that differ.
  returned: with RV(before)
  type: dict
  sample:
    before: {interface: {rnic0: {mtu: 1500}}}
    after: {interface: {rnic0: {mtu: 9000}}}
plan:
  description:
    - The steps, one per interface that has to change, each with action, kind, name, reason and risk. All of them are
      carried out, or none is.
    - The risk is V(disruptive) where running settings of an interface change, V(destructive) where one is removed,
      V(none) where only files change or an interface is new.
  returned: with RV(before)
  type: list
  elements: dict
  sample: [{action: update, kind: interface, name: rnic0, reason: "mtu is 1500, wanted 9000", risk: disruptive}]
done:
  description: Always empty, because a change that fails is undone as a whole.
  returned: when a change failed
  type: list
  elements: dict
failed_step:
  description: The first step, with what went wrong as C(error).
  returned: when a change failed
  type: dict
  sample: {action: update, kind: interface, name: rnic0, error: the old settings are back}
not_tried: {description: The other steps., returned: when a change failed, type: list, elements: dict, sample: []}
undo_log:
  description: What the server did to put the old settings back, line by line.
  returned: when a change was not confirmed
  type: list
  elements: str
  sample: ["+ networkctl reload"]
pending:
  description: Whether a change waits for its confirmation or is just being undone.
  returned: when O(phase=review)
  type: bool
  sample: false
gathered:
  description:
    - Every NIC, bond and VLAN that may be declared, with its running settings, in the form of O(interfaces).
    - The interfaces that the server is managed through are left out.
  returned: when O(state=gathered)
  type: list
  elements: dict
  sample: [{name: rnic0, type: nic, mac: "04:3f:72:00:01:02", addresses: [10.5.1.101/16], mtu: 9000}]
lasting:
  description:
    - Names of those NICs of RV(gathered) whose running settings come back after a restart, because the file that
      configures them says the same. Declaring these as they are changes nothing, whoever wrote the file.
  returned: when O(state=gathered)
  type: list
  elements: str
  sample: [rnic0]
rendered:
  description: The text of every file by path.
  returned: when O(state=rendered)
  type: dict
  sample: {/etc/systemd/network/50-ipu-rnic0.network: "the text of the file"}
"""

import os
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._host.files import Files
from ansible_collections.ipu.pod.plugins.module_utils._host.programs import Programs, run_program
from ansible_collections.ipu.pod.plugins.module_utils._plan import module as edge
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Outcome, Refused
from ansible_collections.ipu.pod.plugins.module_utils._rnic.backends import AUTO, BACKENDS, OPTION
from ansible_collections.ipu.pod.plugins.module_utils._rnic.checkpoint import Checkpoint
from ansible_collections.ipu.pod.plugins.module_utils._rnic.client import Client
from ansible_collections.ipu.pod.plugins.module_utils._rnic.confirmation import CHANGE, CONFIRM, PHASES, REVIEW
from ansible_collections.ipu.pod.plugins.module_utils._rnic.declared import INTERFACES, interfaces_from
from ansible_collections.ipu.pod.plugins.module_utils._rnic.plan import gathered, lasting, rendered
from ansible_collections.ipu.pod.plugins.module_utils._rnic.session import Session
from ansible_collections.ipu.pod.plugins.module_utils._rnic.ssh_addresses import ssh_addresses
from ansible_collections.ipu.pod.plugins.module_utils._rnic.sysfs import Sysfs

ARGUMENTS = {
    "interfaces": INTERFACES,
    "new_service": {"type": "bool", "default": False},
    "backend": OPTION,
    "confirm_within": {"type": "int", "default": 120},
    "phase": {"type": "str", "choices": list(PHASES), "default": CHANGE},
    "change": {"type": "str", "default": ""},
    "state": {"type": "str", "choices": ["merged", "replaced", "rendered", "gathered"], "default": "merged"},
}


def main() -> None:
    """Gather, render, or run one phase of a change."""
    required = [("state", state, ["interfaces"]) for state in ("merged", "replaced", "rendered")]
    module = AnsibleModule(ARGUMENTS, supports_check_mode=True, required_if=required)
    try:
        run(module)
    except (Refused, DeviceError) as error:
        module.fail_json(msg=str(error), changed=False)


def run(module: Any) -> None:
    """Do what the parameters ask for and exit the module.

    Raises:
        Refused, DeviceError: nothing was touched, or the message says what was.
    """
    parameters = module.params
    programs, files = Programs(run_program), Files()
    client, checkpoint = Client(programs, files, Sysfs(), ssh_addresses(os.getpid())), Checkpoint(programs, files)
    if parameters["state"] == "gathered":
        server = client.survey()
        module.exit_json(changed=False, gathered=gathered(server), lasting=lasting(server))
    interfaces = interfaces_from(parameters["interfaces"])
    if parameters["state"] == "rendered":
        if parameters["backend"] == AUTO:
            raise Refused("backend: state rendered asks no server; name the back end")
        module.exit_json(changed=False, rendered=rendered(interfaces, BACKENDS[parameters["backend"]]))
    session = Session(
        client,
        checkpoint,
        interfaces,
        parameters["backend"],
        replaced=parameters["state"] == "replaced",
        may_be_stopped=module.check_mode and parameters["new_service"],
        confirm_within=parameters["confirm_within"],
        change=parameters["change"],
    )
    if parameters["phase"] == REVIEW:
        log = checkpoint.undone()
        result = {"pending": checkpoint.is_pending(), "undo_log": None if log is None else log.splitlines()}
        module.exit_json(changed=False, after=session.read(), **result)
    if parameters["phase"] == CONFIRM:
        module.exit_json(changed=True, after=session.confirm(parameters["change"]))
    checkpoint.refuse_pending()
    if checkpoint.undone() is not None and not module.check_mode:
        module.warn("an earlier change was not confirmed, and the server has put the old settings back")
        checkpoint.clean()

    def armed(_outcome: Outcome) -> dict[str, Any]:
        return {"armed": True} if session.armed else {}

    edge.run(module, session.read, session.plan, session.apply, extra=armed)


if __name__ == "__main__":
    main()
