# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration that is added to a chrony which serves time to a pod. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._services.addresses import network_from

from .._templates.render import render

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")
_PLACE = "pod_services_time"


def chrony_configuration(declared: Mapping[str, Any]) -> str:
    """The text of a drop-in of chrony.conf.

    Args:
        declared: ``networks`` that may ask; optionally ``upstream`` servers and ``local_stratum``.

    Raises:
        Refused: something is malformed.
    """
    networks = [network_from(f"{_PLACE}.networks", network) for network in declared.get("networks") or []]
    if not networks:
        raise Refused(f"{_PLACE}.networks is empty; name the networks that may ask for the time, like 10.1.0.0/16")
    stratum = declared.get("local_stratum")
    if stratum is not None and not 1 <= int(stratum) <= 15:
        raise Refused(f"{_PLACE}.local_stratum is {stratum}, but a server's stratum is from 1 to 15; 10 is usual")
    upstream = [_upstream(server) for server in declared.get("upstream") or []]
    return render("chrony.conf", upstream=upstream, networks=networks, stratum=stratum)


def _upstream(server: Any) -> str:
    if not _HOST.fullmatch(str(server)):
        raise Refused(f"{_PLACE}.upstream: {str(server)!r} is no host name or IPv4 address; write it like 10.3.0.1")
    return str(server)
