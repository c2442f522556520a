# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filters of the roles pod_services, slurm and vipu_controller. Pure rooms think out what they return."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.ipu.pod.plugins.module_utils._dhcp.hosts import hosts_of_machines
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._vipu.controller_storage import (
    NotStorage,
    differences,
    partitions_held,
    storage_from,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._pod_services.configurations import (
    chrony_configuration,
    dnsmasq_configuration,
    rsyslog_configuration,
)

_CERTIFICATES = re.compile(r"^tls-certs\s*=.*$", re.MULTILINE)


def administrator(config: str, certificates: str) -> str:
    """The text of a vipu-admin.hcl with the directory where its certificates are on the host of Slurm's hooks."""
    return _CERTIFICATES.sub(f'tls-certs="{certificates}"', config)


def dhcp_hosts(variables: dict[str, Any], machines: list[str]) -> list[dict[str, str]]:
    """The hosts that DHCP can serve."""
    return hosts_of_machines({str(name): variables[name] for name in machines})


def storage_differences(backup: str, now: str, exporters: Mapping[str, str], metric: str) -> list[str]:
    """Return what a restore of ``backup`` would change, as sentences."""
    held = {str(agent): partitions_held(str(text), metric) for agent, text in exporters.items()}
    return differences(storage_from(backup, "the backup"), _readable(now), held)


def _readable(now: str) -> dict[str, Any]:
    """The storage as it is; a damaged one, which may be why somebody restores, is an empty one."""
    try:
        return storage_from(now, "the storage")
    except NotStorage:
        return {}


def _or_error(filter_: Callable[..., Any]) -> Callable[..., Any]:
    """The filter, which says in Ansible's way why it has no answer."""

    def made(*arguments: Any, **named: Any) -> Any:
        try:
            return filter_(*arguments, **named)
        except (Refused, NotStorage) as error:
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
            "slurm_administrator": administrator,
            "storage_differences": _or_error(storage_differences),
        }
