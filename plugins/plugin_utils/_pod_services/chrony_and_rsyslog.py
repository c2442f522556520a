# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is added to the configurations of a chrony and a rsyslog that serve a pod. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._dhcp.addresses import address_from, network_from
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused

from .._templates.render import render

PORT = 514
DIRECTORY = "/var/log/ipu-pod"

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")
_DIRECTORY = re.compile(r"(/[A-Za-z0-9._-]+)+")
_TIME, _SYSLOG = "pod_services_time", "pod_services_syslog"


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
    port = PORT if declared_port is None else int(declared_port)
    if not 1 <= port <= 65535:
        raise Refused(f"{_SYSLOG}.port is {port}, but a UDP port is from 1 to 65535; 514 is usual")
    directory = str(declared.get("directory") or DIRECTORY)
    if not _DIRECTORY.fullmatch(directory):
        raise Refused(f"{_SYSLOG}.directory {directory!r} is no path of plain characters; write it like {DIRECTORY}")
    return render("rsyslog.conf", directory=directory, address=address, port=port)
