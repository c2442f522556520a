# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a fleet as its devices tell themselves: what bench_fleet.py reads. Addresses and ports are the guide's.

Of each ToR the running-config and what it sees at its ports, of each Poplar server what its programs say of its NICs,
of the controller its lists. Every 15 racks are alike: most are as the guide has them, some are odd and legal. The first
of them can be written with drift.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

CONTROLLER = "ctrl001"
MACHINES, SERVERS = range(1, 17), range(1, 5)
DEVICES = 1 + len(MACHINES) + len(SERVERS)
ALIKE = 15
# Positions among 15 racks.
DRIFTED, DESCENDING, SWAPPED, RENAMED, BONDED, FOREIGN, BY_HAND, OTHER_AGENTS, UNUSED = 0, 1, 2, 3, 4, 5, 6, 7, 14
# First position and number of racks of clusters with more than one.
TOGETHER = {8: 2, 10: 4}
RNIC_VLAN, STORAGE = 99, 300
PORT_MTU, RNIC_MTU = 9200, 9000
USUAL_DSCPS = {str(dscp): dscp // 8 for dscp in range(64)}
LOSSLESS = {"trust": "dscp", "dscp_map": {**USUAL_DSCPS, "48": 6}, "pfc": [3]}
ROCE = {
    "pause": {"rx": False, "tx": False},
    "rings": {"rx": 1024, "tx": 1024},
    **LOSSLESS,
    "buffer_sizes": [130944, 130944, 0, 0, 0, 0, 0, 0],
    "ecn": {"np": [3], "rp": [3]},
    "roce_mode": "v2",
    "roce_tos": 106,
    "traffic_class": 106,
}

# Device, kind and name of what differs in a drifted rack.
Resources = set[tuple[str, str, str]]


def pod_name(number: int) -> str:
    """The name of a rack; they count from 1."""
    return f"pod{number:03}"


def declared(racks: int) -> dict[str, Any]:
    """The pods.yml that gathering begins with: which racks there are, and who serves them."""
    usual = {"model": "bow-pod64", "addressing": "multi-rack", "poplar_servers": len(SERVERS)}
    return {
        "schema": 1,
        "pods": {pod_name(number): {**usual, "lrack": number} for number in range(1, racks + 1)},
        "controllers": {CONTROLLER: {"address": "10.3.250.1"}},
    }


def write(directory: Path, racks: int, has_drift: bool) -> Resources:
    """Write the files of all devices; returns what differs from a fleet without drift."""
    drifted: Resources = set()
    held: dict[str, dict[str, Any]] = {kinds: {} for kinds in ("agents", "clusters", "allocations", "partitions")}
    held["users"] = {"admin": {"allocations": [], "admin": True}}
    for number in range(1, racks + 1):
        pod, drifts = pod_name(number), has_drift and _position(number) == DRIFTED
        _write_switch(directory, number, drifts)
        for server in SERVERS:
            outputs = _server(number, server, drifts)
            (directory / f"{pod}-poplar{server}.json").write_text(json.dumps(outputs))
        held["agents"].update(_agents(number))
        _add_tenants(held, number, racks)
        if drifts:
            del held["partitions"][f"{pod}-alice-train"]
            drifted |= {
                (f"{pod}-tor", "port", "Ethernet9/1"),
                (f"{pod}-tor", "port", "Ethernet31/1"),
                (f"{pod}-tor", "vlan", str(STORAGE)),
                (f"{pod}-poplar1", "interface", "ens2f0"),
                (f"{pod}-poplar2", "roce", "ens2f0"),
                (CONTROLLER, "partition", f"{pod}-alice-train"),
            }
    (directory / f"{CONTROLLER}.json").write_text(json.dumps(held))
    return drifted


def _position(number: int) -> int:
    return (number - 1) % ALIKE


# ToRs


def _write_switch(directory: Path, number: int, drifts: bool) -> None:
    pod = pod_name(number)
    cables = {f"Ethernet{_machine_port(number, machine)}/1": f"{pod}-ipum{machine}" for machine in MACHINES}
    neighbours = {port: [{"device": device, "port": "rnic"}] for port, device in cables.items()}
    (directory / f"{pod}-tor.seen.json").write_text(json.dumps({"neighbours": neighbours}))
    (directory / f"{pod}-tor.config").write_text(_running_config(number, drifts))


def _machine_port(number: int, machine: int) -> int:
    if _position(number) == DESCENDING:
        return 25 - machine
    swapped = {3: 4, 4: 3} if _position(number) == SWAPPED else {}
    return 8 + swapped.get(machine, machine)


def _running_config(number: int, drifts: bool) -> str:
    tenants = _tenants(number)
    vlans = {RNIC_VLAN: f"{pod_name(number)}-rnic", STORAGE: "nfs" if drifts else "storage"}
    vlans |= {tenant["vlan"]: f"vpod-{name}" for name, tenant in tenants.items()}
    blocks = [[f"vlan {vlan}", f"name {name}"] for vlan, name in sorted(vlans.items())]
    ports = {port: ["switchport mode trunk"] for port in range(1, 9)}
    for machine in MACHINES:
        vlan = next((each["vlan"] for each in tenants.values() if machine in each["machines"]), RNIC_VLAN)
        ports[_machine_port(number, machine)] = _port(f"switchport access vlan {vlan}")
    for server in SERVERS:
        vlan = next((each["vlan"] for each in tenants.values() if server in each["servers"]), RNIC_VLAN)
        trunk = (f"switchport trunk native vlan {vlan}", f"switchport trunk allowed vlan {vlan},{STORAGE}")
        settings = _port(*trunk, "switchport mode trunk")
        first = 23 + 2 * server
        if _position(number) == BONDED:
            blocks.append([f"interface Port-Channel{server}", *settings])
            settings = [f"channel-group {server} mode active"]
        ports |= {first: settings, first + 1: list(settings)}
    if _position(number) == FOREIGN:
        ports |= {31: ["description to the lab", "no switchport"], 32: ["switchport mode dot1q-tunnel"]}
    if drifts:
        ports[9] = _port(f"switchport access vlan {STORAGE}")
        ports[31] = ["mtu 1600", *ports[31][1:]]
    blocks += [[f"interface Ethernet{port}/1", *settings] for port, settings in sorted(ports.items())]
    head = [
        "! Command: show running-config",
        "!",
        f"hostname {pod_name(number)}-tor",
        "!",
        "spanning-tree mode mstp",
        "!",
    ]
    lines = [line for block in blocks for line in (block[0], *(f"   {each}" for each in block[1:]), "!")]
    return "\n".join([*head, *lines, "interface Management1", "!", "end"]) + "\n"


def _port(*switchport: str) -> list[str]:
    return [f"mtu {PORT_MTU}", *switchport, "spanning-tree portfast"]


# Poplar servers


def _server(number: int, server: int, drifts: bool) -> dict[str, Any]:
    """The output of a server's programs, and its files."""
    name = {RENAMED: "ens5f0"}.get(_position(number), "ens2f0")
    last = 200 if (_position(number), server) == (RENAMED, 4) else 100 + server
    address = f"10.5.{number}.{last}"
    mtu = 4200 if (_position(number), server) == (RENAMED, 3) else RNIC_MTU
    text = f"[Match]\nName={name}\n\n[Link]\nMTUBytes={mtu}\n\n[Network]\nAddress={address}/16\n"
    path = "/etc/systemd/network/90-site.network"
    own = {"address": f"04:3f:72:{number:02x}:{server:02x}:02", "mtu": 1500 if drifts and server == 1 else mtu}
    rnic = [_link(3, name, **own, local=address)]
    if _position(number) == BONDED:
        bond = {"linkinfo": {"info_kind": "bond", "info_data": {"mode": "802.3ad"}}}
        rnic = [_link(3, name, **own, master="bond0"), _link(5, "bond0", **own, local=address, **bond)]
    has_file = _position(number) not in (BONDED, BY_HAND)
    management = {"address": f"52:54:00:{number:02x}:{server:02x}:01", "local": f"10.3.{number}.{100 + server}"}
    other = {"address": f"04:3f:72:{number:02x}:{server:02x}:03", "up": False}
    return {
        "links": json.dumps([_link(2, "eno1", **management), *rnic, _link(4, f"{name[:-1]}1", **other)]),
        "routes": json.dumps([{"dst": "default", "dev": "eno1"}]),
        "network_files": {name: path} if has_file else {},
        "texts": {path: text} if has_file else {},
        "nic": name,
        "roce": {**ROCE, "pfc": []} if drifts and server == 2 else ROCE,
        "lasting_roce": LOSSLESS,
    }


def _link(
    index: int, name: str, address: str, mtu: int = 1500, local: str = "", up: bool = True, **more: Any
) -> dict[str, Any]:
    return {
        "ifindex": index,
        "ifname": name,
        "address": address,
        "flags": ["BROADCAST", *(["UP"] if up else [])],
        "mtu": mtu,
        "min_mtu": 68,
        "max_mtu": 9978,
        "addr_info": [{"local": local, "prefixlen": 16, "scope": "global"}] if local else [],
        **more,
    }


# The controller


def _tenants(number: int) -> Mapping[str, Mapping[str, Any]]:
    """vPOD to its VLAN, and its IPU-Machines and servers in this rack."""
    if _position(number) == UNUSED:
        return {}
    first, count = _cluster(number)
    if count > 1:
        return {f"{pod_name(first)}-alice": {"vlan": 1000 + 2 * first, "machines": MACHINES, "servers": (1, 2)}}
    return {
        f"{pod_name(number)}-alice": {"vlan": 1000 + 2 * number, "machines": range(1, 5), "servers": (1,)},
        f"{pod_name(number)}-bob": {"vlan": 1001 + 2 * number, "machines": range(9, 17), "servers": (2, 3)},
    }


def _cluster(number: int) -> tuple[int, int]:
    """The first rack of a rack's cluster, and how many there are."""
    for position, count in TOGETHER.items():
        if position <= _position(number) < position + count:
            return number - _position(number) + position, count
    return number, 1


def _agent(number: int, machine: int) -> str:
    return f"m{machine}.r{number}" if _position(number) == OTHER_AGENTS else f"{pod_name(number)}-ipum{machine}"


def _agents(number: int) -> dict[str, Any]:
    known = {"port": 8080, "status": "Up", "version": "1.18.0"}
    return {_agent(number, machine): {"host": f"10.2.{number}.{machine}", **known} for machine in MACHINES}


def _add_tenants(held: dict[str, dict[str, Any]], number: int, racks: int) -> None:
    """The cluster that begins in this rack, with what lies in it."""
    first, count = _cluster(number)
    if number != first or first + count - 1 > racks or _position(number) == UNUSED:
        return
    cluster = f"c-{pod_name(first)}"
    numbers = range(first, first + count)
    topology = {"topology": "mesh" if count == 2 else "torus", "ipu_link_domains": count, "looped": count == 4}
    held["clusters"][cluster] = {"agents": _names(numbers, MACHINES), **topology}
    for name, tenant in _tenants(first).items():
        agents = _names(numbers, tenant["machines"])
        ipus = 4 * len(agents)
        held["allocations"][name] = {"cluster": cluster, "size": ipus, "agents": agents}
        held["users"][name] = {"allocations": [name], "admin": False}
        held["partitions"][f"{name}-train"] = _partition(name, ipus if count > 1 else ipus // 2, count, False)
        if count == 1:
            held["partitions"][f"{name}-serve"] = _partition(name, 4, 1, True)


def _names(numbers: Sequence[int], machines: Sequence[int]) -> list[str]:
    return [_agent(number, machine) for number in numbers for machine in machines]


def _partition(allocation: str, size: int, gcds: int, is_reconfigurable: bool) -> dict[str, Any]:
    return {
        "allocation": allocation,
        "size": size,
        "gcds": gcds,
        "replicas": gcds,
        "routing": "dnc",
        "gw_routing": "default",
        "sync_type": "c2-compatible" if is_reconfigurable else "pod-native-default",
        "reconfigurable": is_reconfigurable,
        "status": "ACTIVE",
    }
