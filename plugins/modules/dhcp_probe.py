#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the DHCP servers on an interface."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dhcp_probe
short_description: Find the DHCP servers on an interface
description:
  - Sends DHCPDISCOVER messages on one interface and returns who answered. No offer is taken, so nothing is leased and
    nothing changes. Also done in check mode.
  - A DHCP server on the host itself does not see the messages, and is not returned.
version_added: 1.0.0
author: The ipu.pod authors (@ipu-pod)
extends_documentation_fragment: ipu.pod._attributes.reads
requirements: [root]
options:
  interface: {description: "The interface to ask on. It has to be up, and needs no address.", type: str, required: true}
  macs:
    description:
      - MAC addresses to ask for, besides the interface's own. A server that only serves known clients answers to none
        but theirs. The frames themselves are sent from the interface's own MAC.
    type: list
    elements: str
    default: []
  seconds:
    description:
      - How long to wait for answers, in seconds. Some servers look for three seconds whether an address is in use
        before they offer it.
    type: float
    default: 6
"""

EXAMPLES = r"""
- name: Probe for DHCP servers
  ipu.pod.dhcp_probe:
    interface: ens2f0
    macs: ["0c:42:a1:00:01:01"]
  register: dhcp

- name: Check that there is none
  ansible.builtin.assert:
    that: dhcp.offers | length == 0
"""

RETURN = r"""
offers:
  description: The offers that were received, each once, by server.
  returned: always
  type: list
  elements: dict
  contains:
    server: {description: "The server's address, as it says itself.", type: str}
    address: {description: The address that it offered., type: str}
    mac: {description: The MAC address that it is for., type: str}
  sample: [{server: 10.5.255.254, address: 10.5.1.1, mac: "0c:42:a1:00:01:01"}]
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._dhcp.hosts import mac_from
from ansible_collections.ipu.pod.plugins.module_utils._dhcp.probe import probe
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused

ARGUMENTS = {
    "interface": {"type": "str", "required": True},
    "macs": {"type": "list", "elements": "str", "default": []},
    "seconds": {"type": "float", "default": 6},
}


def main() -> None:
    """Ask and tell."""
    module = AnsibleModule(ARGUMENTS, supports_check_mode=True)
    try:
        macs = [mac_from("macs", mac) for mac in module.params["macs"]]
        offers = probe(module.params["interface"], macs, module.params["seconds"])
    except (Refused, DeviceError) as error:
        module.fail_json(msg=str(error), changed=False)
    found = [{"server": offer.server, "address": offer.address, "mac": offer.mac} for offer in offers]
    module.exit_json(changed=False, offers=found)


if __name__ == "__main__":
    main()
