# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Contradictions between the lossless settings of one interface, one sentence each. Pure."""

from __future__ import annotations

from typing import Any, Mapping

from .._plan.converge import Refused
from .settings import NO_TRAFFIC_CLASS, Settings, dscp_of
from .tool_sets import ToolSet


def check(place: str, tools: ToolSet, wanted: Mapping[str, Any], declared: Settings) -> None:
    """Refuse settings that would not make a lossless class of traffic.

    Args:
        wanted: all settings as they would be, kept ones included.
        declared: those that the owner declared; only what one of them is part of is looked at.

    Raises Refused: two of the settings contradict each other.
    """
    _check_pause(place, wanted, declared)
    _check_trust(place, tools, wanted, declared)
    _check_classes(place, wanted, declared)
    if wanted["roce_mode"] == "v1" and "roce_tos" in declared:
        raise Refused(f"{place}: roce_tos needs roce_mode v2; RoCE v1 packets have no IP header that could carry it")


def _check_pause(place: str, wanted: Mapping[str, Any], declared: Settings) -> None:
    pause = wanted["pause"] or {}
    on = sorted(way for way in pause if pause[way])
    if wanted["pfc"] and on and {"pfc", "pause"} & declared.keys():
        off = ", ".join(f"{way}: false" for way in on)
        raise Refused(
            f"{place}: PFC on priority {wanted['pfc'][0]} and pause frames ({', '.join(on)}) exclude each other; "
            f"declare pause: {{{off}}} or pfc: []"
        )


def _check_trust(place: str, tools: ToolSet, wanted: Mapping[str, Any], declared: Settings) -> None:
    if declared.get("dscp_map") and wanted["trust"] != "dscp":
        raise Refused(f"{place}: dscp_map needs trust dscp, but trust is {wanted['trust']}; declare trust: dscp")
    if declared.get("trust") == "dscp" and not wanted["dscp_map"]:
        raise Refused(f"{place}: with the {tools.name} tools trust dscp needs a dscp_map; declare it, like {{26: 3}}")


def _check_classes(place: str, wanted: Mapping[str, Any], declared: Settings) -> None:
    """Check that DSCP values map to the priorities with PFC."""
    if wanted["trust"] != "dscp" or not {"trust", "dscp_map", "pfc", "roce_tos", "traffic_class"} & declared.keys():
        return
    priorities = wanted["dscp_map"]
    for priority in wanted["pfc"] or []:
        if priority not in priorities.values():
            raise Refused(
                f"{place}: PFC is on for priority {priority}, but no DSCP maps to it; "
                f"declare one in dscp_map, like {{26: {priority}}}"
            )
    for name in ("roce_tos", "traffic_class"):
        tos = wanted[name]
        if name not in declared or tos in (None, NO_TRAFFIC_CLASS) or not wanted["pfc"]:
            continue
        dscp = dscp_of(tos)
        if priorities.get(str(dscp)) not in wanted["pfc"]:
            raise Refused(
                f"{place}: {name} {tos} is DSCP {dscp}, which maps to no priority with PFC; "
                f"map it to priority {wanted['pfc'][0]} in dscp_map, or change {name}"
            )
