# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pure core for the role pod_services: whom DHCP serves, and dnsmasq's configuration for that."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._services.dhcp_hosts import hosts_of_machines
from ansible_collections.ipu.pod.plugins.module_utils._services.dnsmasq import dnsmasq_configuration


def dnsmasq(declared: dict[str, Any], hosts: list[dict[str, Any]]) -> str:
    """The configuration of one dnsmasq."""
    try:
        return dnsmasq_configuration(declared, hosts)
    except Refused as error:
        raise AnsibleFilterError(str(error)) from None


def dhcp_hosts(variables: dict[str, Any], machines: list[str]) -> list[dict[str, str]]:
    """The hosts that DHCP can serve."""
    return hosts_of_machines({str(name): variables[name] for name in machines})


class FilterModule:
    """Filters of the collection."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {"dnsmasq": dnsmasq, "dhcp_hosts": dhcp_hosts}
