# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pure core for the role pod_services: whom DHCP serves, and the configurations of what serves a pod."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.ipu.pod.plugins.module_utils._dhcp.hosts import hosts_of_machines
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.plugin_utils._pod_services.configurations import (
    chrony_configuration,
    dnsmasq_configuration,
    rsyslog_configuration,
)


def dhcp_hosts(variables: dict[str, Any], machines: list[str]) -> list[dict[str, str]]:
    """The hosts that DHCP can serve."""
    return hosts_of_machines({str(name): variables[name] for name in machines})


def _or_error(configuration: Callable[..., str]) -> Callable[..., str]:
    """A filter that makes a configuration, or says in Ansible's way why there is none."""

    def made(*declared: Any) -> str:
        try:
            return configuration(*declared)
        except Refused as error:
            raise AnsibleFilterError(str(error)) from None

    return made


class FilterModule:
    """Filters of the collection."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {
            "chrony": _or_error(chrony_configuration),
            "dhcp_hosts": dhcp_hosts,
            "dnsmasq": _or_error(dnsmasq_configuration),
            "rsyslog": _or_error(rsyslog_configuration),
        }
