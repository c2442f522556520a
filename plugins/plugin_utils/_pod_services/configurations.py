# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configurations of dnsmasq, chrony and rsyslog where they serve a pod. Pure."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._dhcp.addresses import address_from, network_from
from ansible_collections.ipu.pod.plugins.module_utils._dhcp.hosts import DhcpHost, hosts_from
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused

from .._templates.render import render

_INTERFACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,14}")
_LEASE = re.compile(r"[1-9]\d*[mhd]|infinite")
_OPTIONS = {"time_servers": "ntp-server", "syslog_servers": "log-server"}
SYSLOG_PORT = 514
SYSLOG_DIRECTORY = "/var/log/ipu-pod"
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")
_DIRECTORY = re.compile(r"(/[A-Za-z0-9._-]+)+")
_TIME, _SYSLOG = "pod_services_time", "pod_services_syslog"


def dnsmasq_configuration(
    declared: Mapping[str, Any], hosts: Sequence[Mapping[str, Any]], own_addresses: Sequence[str]
) -> str:
    """The text of a dnsmasq.conf.

    Args:
        declared: ``interface`` and ``networks``; optionally ``time_servers``, ``syslog_servers`` and ``lease_time``.
        hosts: all known hosts, each with ``name``, ``mac`` and ``address``; those in one of the networks are served.
        own_addresses: the IPv4 addresses of the interface itself.

    Raises:
        Refused: something is malformed, or somebody would not be served.
    """
    interface = _interface(declared)
    place = f"DHCP on {interface}"
    networks = [network_from(place, network) for network in declared.get("networks") or []]
    served = [host for host in hosts_from(hosts) if any(host.address in network for network in networks)]
    _check(place, networks, served)
    _check_own(place, networks, [address_from(place, address) for address in own_addresses])
    lease = str(declared.get("lease_time") or "1h")
    if not _LEASE.fullmatch(lease):
        raise Refused(f"{place}: lease_time {lease!r} is none; write it like 30m, 12h, 1d or infinite")
    options = {
        option: [address_from(f"{place}: {name}", address) for address in declared.get(name) or []]
        for name, option in _OPTIONS.items()
    }
    return render("dnsmasq.conf", interface=interface, options=options, networks=networks, lease=lease, hosts=served)


def _interface(declared: Mapping[str, Any]) -> str:
    interface = str(declared.get("interface", ""))
    if not _INTERFACE.fullmatch(interface):
        raise Refused(f"DHCP: interface {interface!r} is no interface name; name the one to serve, like ens2f0.101")
    return interface


def _check(place: str, networks: Sequence[ipaddress.IPv4Network], served: Sequence[DhcpHost]) -> None:
    for number, network in enumerate(networks):
        for other in networks[:number]:
            if network.overlaps(other):
                raise Refused(f"{place}: the networks {other} and {network} overlap; keep one")
    if not served:
        raise Refused(f"{place}: no known host has an address in its networks; declare hosts, or leave it out")
    for host in served:
        for network in networks:
            if host.address in (network.network_address, network.broadcast_address):
                raise Refused(f"{place}: {host.name} has {host.address}, the first or last address of {network}")


def _check_own(
    place: str, networks: Sequence[ipaddress.IPv4Network], own_addresses: Sequence[ipaddress.IPv4Address]
) -> None:
    for network in networks:
        if not any(address in network for address in own_addresses):
            raise Refused(f"{place}: the interface has no address in {network}; give it one, or nobody is answered")


def chrony_configuration(declared: Mapping[str, Any]) -> str:
    """The text of a drop-in of chrony.conf; :class:`Refused` if something is malformed.

    ``declared`` has ``networks`` that may ask; optionally ``upstream`` servers and ``local_stratum``.
    """
    networks = [network_from(f"{_TIME}.networks", network) for network in declared.get("networks") or []]
    if not networks:
        raise Refused(f"{_TIME}.networks is empty; name the networks that may ask for the time, like 10.1.0.0/16")
    upstream = [str(server) for server in declared.get("upstream") or []]
    for server in upstream:
        if not _HOST.fullmatch(server):
            raise Refused(f"{_TIME}.upstream: {server!r} is no host name or IPv4 address; write it like 10.3.0.1")
    stratum = declared.get("local_stratum")
    if stratum is not None and not 1 <= int(stratum) <= 15:
        raise Refused(f"{_TIME}.local_stratum is {stratum}, but a server's stratum is from 1 to 15; 10 is usual")
    return render("chrony.conf", upstream=upstream, networks=networks, stratum=stratum)


def rsyslog_configuration(declared: Mapping[str, Any]) -> str:
    """The text of a drop-in of rsyslog.conf: a file for each sender, by its address; :class:`Refused` as above.

    ``declared`` has an ``address`` to listen at; optionally ``port`` (UDP, 514) and ``directory`` (/var/log/ipu-pod).
    """
    address = address_from(f"{_SYSLOG}.address", declared.get("address"))
    declared_port = declared.get("port")
    port = SYSLOG_PORT if declared_port is None else int(declared_port)
    if not 1 <= port <= 65535:
        raise Refused(f"{_SYSLOG}.port is {port}, but a UDP port is from 1 to 65535; 514 is usual")
    directory = str(declared.get("directory") or SYSLOG_DIRECTORY)
    if not _DIRECTORY.fullmatch(directory):
        raise Refused(
            f"{_SYSLOG}.directory {directory!r} is no path of plain characters; write it like {SYSLOG_DIRECTORY}"
        )
    return render("rsyslog.conf", directory=directory, address=address, port=port)
