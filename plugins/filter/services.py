# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pure core for the role pod_services: whom DHCP serves, and the configurations of what serves a pod."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._services.dhcp_hosts import hosts_of_machines
from ansible_collections.ipu.pod.plugins.plugin_utils._services.chrony import chrony_configuration
from ansible_collections.ipu.pod.plugins.plugin_utils._services.dnsmasq import dnsmasq_configuration
from ansible_collections.ipu.pod.plugins.plugin_utils._services.rsyslog import rsyslog_configuration


def dnsmasq(declared: dict[str, Any], hosts: list[dict[str, Any]], own_addresses: list[str]) -> str:
    """The configuration of one dnsmasq."""
    return _or_error(lambda: dnsmasq_configuration(declared, hosts, own_addresses))


def chrony(declared: dict[str, Any]) -> str:
    """Return the drop-in for chrony."""
    return _or_error(lambda: chrony_configuration(declared))


def rsyslog(declared: dict[str, Any]) -> str:
    """Return the drop-in for rsyslog."""
    return _or_error(lambda: rsyslog_configuration(declared))


def dhcp_hosts(variables: dict[str, Any], machines: list[str]) -> list[dict[str, str]]:
    """The hosts that DHCP can serve."""
    return hosts_of_machines({str(name): variables[name] for name in machines})


def _or_error(configuration: Callable[[], str]) -> str:
    try:
        return configuration()
    except Refused as error:
        raise AnsibleFilterError(str(error)) from None


class FilterModule:
    """Filters of the collection."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {"chrony": chrony, "dhcp_hosts": dhcp_hosts, "dnsmasq": dnsmasq, "rsyslog": rsyslog}
