# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration that is added to a rsyslog which takes the pod's messages. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._services.addresses import address_from

from .._templates.render import render

PORT = 514
DIRECTORY = "/var/log/ipu-pod"

_DIRECTORY = re.compile(r"(/[A-Za-z0-9._-]+)+")
_PLACE = "pod_services_syslog"


def rsyslog_configuration(declared: Mapping[str, Any]) -> str:
    """The text of a drop-in of rsyslog.conf: a file for each sender, by its address.

    Args:
        declared: ``address`` to listen at; optionally ``port`` (UDP, 514) and ``directory`` (/var/log/ipu-pod).

    Raises:
        Refused: something is malformed.
    """
    address = address_from(f"{_PLACE}.address", declared.get("address"))
    declared_port = declared.get("port")
    port = PORT if declared_port is None else int(declared_port)
    if not 1 <= port <= 65535:
        raise Refused(f"{_PLACE}.port is {port}, but a UDP port is from 1 to 65535; 514 is usual")
    directory = str(declared.get("directory") or DIRECTORY)
    if not _DIRECTORY.fullmatch(directory):
        raise Refused(f"{_PLACE}.directory {directory!r} is no path of plain characters; write it like {DIRECTORY}")
    return render("rsyslog.conf", directory=directory, address=address, port=port)
