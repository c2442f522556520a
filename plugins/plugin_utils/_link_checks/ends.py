# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The two ends of a cable, in words that can be compared, from the modules' options. None is not known. Pure.

The same functions read what is declared, which leaves out what it keeps, and what was gathered, which leaves out
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from ansible_collections.ipu.pod.plugins.module_utils._tor.settings import FROM_CHANNEL, default_traffic_class
from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import ACCESS, TRUNK, vlan_ids

from .devices import Options, numbers

DSCPS = range(64)


@dataclass(frozen=True)
class NicEnd:
    """A server's NIC, called by host and interface, with what is stacked on it."""

    name: str
    mtu: int | None = None  # in bytes, of the bond if it is a member of one
    vlan: int | None = None  # that its untagged frames are meant for
    tagged: Mapping[str, int] = field(default_factory=dict)  # VLAN interface on it to its VLAN
    trust: str | None = None  # dscp or pcp
    pfc: frozenset[int] | None = None  # the priorities with PFC
    dscp_map: Mapping[int, int] | None = None  # DSCP to priority
    source: Mapping[str, str] = field(default_factory=dict)  # setting to the key path that says it, where one does


@dataclass(frozen=True)
class PortEnd:
    """A port of a switch, called by host and port."""

    name: str
    mtu: int | None = None  # in bytes
    untagged: int | None = None  # the VLAN of frames without tag
    carried: frozenset[int] | None = None  # the VLANs of frames with tag
    trust: str | None = None  # dscp or cos
    no_drop: frozenset[int] | None = None  # the priorities with PFC
    classes: Mapping[int, int] | None = None  # DSCP to traffic class, which is the priority that PFC pauses
    source: Mapping[str, str] = field(default_factory=dict)  # setting to the key path that says it, where one does


def declared_port(switch: str, options: Options, name: str) -> PortEnd:
    """A port as the options of ``tor_switch`` declare it; a member of a port channel gets what the channel has.

    The port or the quality of service may be missing in the ``options``.
    """
    port, qos = _port(options, name), options.get("qos")
    profile = _profile(qos, port.get("qos_profile"))
    return PortEnd(
        name=f"{switch} {name}",
        mtu=port.get("mtu"),
        untagged=_untagged(port),
        carried=_carried(port),
        trust=port.get("qos_trust") or (profile or {}).get("trust"),
        no_drop=None if profile is None else _no_drop(profile),
        classes=numbers(qos["dscp_to_traffic_class"]) if qos and qos.get("dscp_to_traffic_class") else None,
    )


def gathered_port(switch: str, gathered: Options, name: str, has_profile: bool) -> PortEnd:
    """A port as ``tor_info`` has read it; a member of a port channel gets what the channel has.

    ``has_profile`` says whether it should have a profile. Without one it may have PFC by lines that are not read.
    """
    port, qos = _port(gathered, name), gathered["qos"]
    profile = _profile(qos, port.get("qos_profile"))
    unread = profile is None and not has_profile
    carried = _carried(port)
    by_profile = (profile or {}).get("trust")
    return PortEnd(
        name=f"{switch} {name}",
        mtu=port.get("mtu"),
        untagged=_untagged(port),
        # A trunk carries only what the switch has.
        carried=None if carried is None else carried & {vlan["vlan_id"] for vlan in gathered["vlans"]},
        trust=None if unread else by_profile if by_profile in ("cos", "dscp") else port.get("qos_trust"),
        no_drop=None if unread else _no_drop(profile or {}),
        classes={**{dscp: default_traffic_class(dscp) for dscp in DSCPS}, **numbers(qos["dscp_to_traffic_class"])},
    )


def untagged_vlans(options: Options) -> dict[str, int | None]:
    """Port to the VLAN of its frames without a tag, by options of a switch or as it was read; None is not known."""
    ports = {port["name"]: port for port in options["ports"]}
    return {name: _untagged(_with_channel(ports, name)) for name in ports}


def nic_end(
    host: str,
    device: str,
    interfaces: Sequence[Options],
    roce: Options = MappingProxyType({}),
    vlan: int | None = None,
) -> NicEnd:
    """A NIC, from options of ``rnic_network`` and ``rnic_roce``, declared or gathered.

    Args:
        host: the server.
        device: the NIC's name among all ``interfaces`` of the server.
        roce: the NIC's lossless settings.
        vlan: what its untagged frames are meant for, if it has an address for them.
    """
    bonds = [each for each in interfaces if device in (each.get("members") or ())]
    own = [each for each in interfaces if each["name"] == device]
    top: Options = [*bonds, *own, {"name": device}][0]
    pfc = roce.get("pfc")
    return NicEnd(
        name=f"{host} {device}",
        mtu=top.get("mtu"),
        vlan=vlan if top.get("addresses") else None,
        tagged={each["name"]: each["vlan_id"] for each in interfaces if each.get("parent") == top["name"]},
        trust=roce.get("trust"),
        pfc=None if pfc is None else frozenset(pfc),
        dscp_map=None if roce.get("dscp_map") is None else numbers(roce["dscp_map"]),
    )


def _port(options: Options, name: str) -> Options:
    return _with_channel({port["name"]: port for port in options["ports"]}, name)


def _with_channel(ports: Mapping[str, Options], name: str) -> Options:
    port: Options = ports.get(name, {})
    channel = ports.get(f"Port-Channel{port.get('channel_group')}", {})
    return {**port, **{key: channel[key] for key in FROM_CHANNEL if key in channel}}


def _untagged(port: Options) -> int | None:
    return {ACCESS: port.get("vlan"), TRUNK: port.get("native_vlan")}.get(port.get("mode", ""))


def _carried(port: Options) -> frozenset[int] | None:
    if port.get("mode") == ACCESS:
        return frozenset()
    if port.get("mode") == TRUNK and port.get("allowed_vlans") is not None:
        return vlan_ids(port["allowed_vlans"]) - {port.get("native_vlan")}
    return None


def _profile(qos: Options | None, name: str | None) -> Options | None:
    profiles = (qos or {}).get("profiles") or []
    return next((profile for profile in profiles if profile["name"] == name), None)


def _no_drop(profile: Options) -> frozenset[int]:
    return frozenset() if profile.get("pfc") is False else frozenset(profile.get("no_drop") or ())
