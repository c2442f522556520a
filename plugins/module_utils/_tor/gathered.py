# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a switch has, as the options of tor_switch that would keep it so. Pure."""

from __future__ import annotations

from typing import Any

from .._plan.steps import Fields
from .declared import EXTERNAL
from .running_config import RunningConfig
from .spelling import ACCESS, TRUNK


def gathered(running: RunningConfig) -> dict[str, list[dict[str, Any]]]:
    """All VLANs and ports, in the order of the running-config."""
    return {
        "vlans": [{"vlan_id": int(vlan_id), **fields} for vlan_id, fields in running.vlans.items()],
        "ports": [_port(name, fields) for name, fields in running.ports.items()],
    }


def _port(name: str, fields: Fields) -> dict[str, Any]:
    """Ports that tor_switch does not configure (routed, tunnel, ...) are somebody else's."""
    if fields["mode"] in (ACCESS, TRUNK):
        return {"name": name, **fields}
    return {"name": name, "owner": EXTERNAL, "description": fields["description"]}
