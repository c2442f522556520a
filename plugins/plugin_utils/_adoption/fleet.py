# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From everything that was read of a fleet to the pods.yml that keeps it so. Pure, and linear in the racks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import controllers, servers, switches
from .adoption import Document, filled, refusal, without

PORTS = ("switch_port", "switch_ports")

Gathered = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class FleetAdoption:
    """The result of the adoption of a fleet."""

    document: Document
    # The same, but for ports of devices that were said to be elsewhere, or by the port map are.
    port_map: Document
    # Host of a controller to options of vipu_state for what pods.yml does not say.
    options: Mapping[str, Document]
    # Poplar server to the host variables that it needs beside pods.yml.
    variables: Mapping[str, Document]
    # Poplar server to what is there, but is not declared, as host variables that would declare it.
    left: Mapping[str, Document]
    # What is not in pods.yml, and why, one sentence each.
    reasons: list[str]


def adopted_fleet(
    document: Document, held: Gathered, gathered_switches: Gathered, gathered_servers: Gathered
) -> FleetAdoption:
    """The pods.yml that keeps controllers, switches and servers as they are.

    Args:
        document: a pods.yml with at least ``pods``. What it says of a device that was not read is kept.
        held: host of a controller to what vipu_info returned there.
        gathered_switches: switch to what tor_info or tor_switch returned.
        gathered_servers: Poplar server to ``gathered`` and ``lasting`` of rnic_network, and perhaps to ``roce`` and
            ``lasting_roce``, which are the same of rnic_roce.

    Raises:
        DeclarationError: the document is wrong, or declares no such device.
    """
    entities = controllers.adopted(document, held)
    names = servers.adopted(entities.document, gathered_servers)
    ports = switches.adopted(names.document, gathered_switches)
    whole = servers.with_mtus(ports.document, names.left, gathered_servers)
    left = [*names.left, *whole.left]
    return FleetAdoption(
        # Controllers that are not declared have no clusters.
        document={key: words for key, words in whole.document.items() if words or key in document or held},
        port_map=_port_map(document, whole.document),
        options=entities.options,
        variables={host: _variables(there, host in left) for host, there in gathered_servers.items()},
        left=filled({host: _left(there, host in left) for host, there in gathered_servers.items()}),
        reasons=[*entities.reasons, *names.reasons, *whole.reasons, *ports.reasons],
    )


def _port_map(declared: Document, found: Document) -> Document:
    """The pods.yml of what was found, with those exceptions of the port map that had been declared."""
    pods = {}
    for name, words in found["pods"].items():
        earlier, now = declared["pods"][name].get("overrides", {}), words.get("overrides", {})
        overrides = {
            device: {
                **without(now.get(device, {}), PORTS),
                **{key: value for key, value in earlier.get(device, {}).items() if key in PORTS},
            }
            for device in {**earlier, **now}
        }
        pods[name] = {**words, "overrides": filled(overrides)}
    port_map = {**found, "pods": pods}
    # What had been declared may not fit the order in which the IPU-Machines were found.
    return found if refusal(port_map) else port_map


def _variables(there: Mapping[str, Any], is_left: bool) -> Document:
    interfaces: Document = {"rnic_interfaces": []} if is_left else {}
    return {**interfaces, **filled({"poplar_server_roce": there.get("lasting_roce")})}


def _left(there: Mapping[str, Any], is_left: bool) -> Document:
    roce = [] if there.get("lasting_roce") else [_briefly(each) for each in there.get("roce", ()) if each.get("pfc")]
    interfaces = {"rnic_interfaces": there["gathered"]} if is_left else {}
    return {**interfaces, **filled({"poplar_server_roce": roce})}


def _briefly(roce: Mapping[str, Any]) -> Document:
    """The settings that make a class of traffic lossless; rings and buffers are the driver's."""
    names = ("name", "pause", "trust", "pfc", "roce_mode", "roce_tos", "traffic_class")
    words = {name: roce[name] for name in names if name in roce}
    classes = {dscp: priority for dscp, priority in roce.get("dscp_map", {}).items() if priority != int(dscp) // 8}
    return {**words, **filled({"dscp_map": classes})}
