# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`show lldp neighbors` and `show mac address-table`: who is at the other ends of the cables."""

from __future__ import annotations

from typing import Any

from podsim.eos.cli import Cli, Command, command
from podsim.eos.faults import Neighbour
from podsim.eos.interface_names import natural_order, short
from podsim.eos.ports import ports
from podsim.eos.reply import Reply, table
from podsim.eos.surroundings import LLDP_HOLD_SECONDS


def _lldp_neighbors(cli: Cli, words: list[str]) -> Reply:
    found = _neighbours(cli, words[3] if len(words) > 3 else None)
    entries = [
        {"port": port, "neighborDevice": one.device, "neighborPort": one.port, "ttl": LLDP_HOLD_SECONDS}
        for port, one in found.items()
    ]
    rows = [[short(port), one.device, one.port, str(LLDP_HOLD_SECONDS)] for port, one in found.items()]
    model = {
        "tablesLastChangeTime": cli.switch.booted,
        "tablesAgeOuts": 0,
        "tablesInserts": len(found),
        "tablesDeletes": 0,
        "tablesDrops": 0,
        "lldpNeighbors": entries,
    }
    head = f"Number of table inserts  : {len(found)}\nNumber of table deletes  : 0\n\n"
    return Reply(head + table(["Port", "Neighbor Device ID", "Neighbor Port ID", "TTL"], rows), model)


def _lldp_detail(cli: Cli, words: list[str]) -> Reply:
    wanted = words[3] if words[3] != "detail" else None
    found = _neighbours(cli, wanted)
    listed = [name for name in cli.switch.hardware.ports if wanted in (None, name)]
    model = {port: {"lldpNeighborInfo": _information(cli, found[port]) if port in found else []} for port in listed}
    text = ""
    for port in listed:
        text += f"Interface {port} detected {int(port in found)} LLDP neighbors:\n\n"
        if port in found:
            one = found[port]
            text += (
                f"  Neighbor {one.mac}/{one.port}, age 0 seconds\n  Discovered just now\n"
                f"  - Chassis ID type: MAC address (4)\n    Chassis ID     : {_dotted(one.mac)}\n"
                f'  - Port ID type: Interface name(5)\n    Port ID     : "{one.port}"\n'
                f"  - Time To Live: {LLDP_HOLD_SECONDS} seconds\n"
                f'  - System Name: "{one.device}"\n\n'
            )
    return Reply(text, {"lldpNeighbors": model})


def _information(cli: Cli, one: Neighbour) -> list[dict[str, Any]]:
    return [
        {
            "chassisIdType": "macAddress",
            "chassisId": _dotted(one.mac),
            "systemName": one.device,
            "systemDescription": "",
            "systemCapabilities": {"stationOnly": True},
            "neighborInterfaceInfo": {
                "interfaceIdType": "interfaceName",
                "interfaceId": f'"{one.port}"',
                "interfaceId_v2": one.port,
                "interfaceDescription": "",
            },
            "managementAddresses": [],
            "ttl": LLDP_HOLD_SECONDS,
            "neighborDiscoveryTime": cli.switch.booted,
            "lastChangeTime": cli.switch.booted,
            "lastContactTime": cli.switch.booted,
        }
    ]


def _neighbours(cli: Cli, wanted: str | None) -> dict[str, Neighbour]:
    found = cli.switch.surroundings.neighbours(cli.switch.running)
    return {port: found[port] for port in sorted(found, key=natural_order) if wanted in (None, port)}


def _mac_table(cli: Cli, words: list[str]) -> Reply:
    wanted = words[-1] if len(words) > 3 else None
    members = {name for name, port in ports(cli.switch.running).items() if wanted in (name, port.channel)}
    found = [
        (mac, vlan, name)
        for mac, vlan, name in cli.switch.surroundings.mac_table(cli.switch.running)
        if wanted in (None, str(vlan), name) or name in members
    ]
    entries = [
        {
            "macAddress": mac,
            "vlanId": vlan,
            "interface": name,
            "entryType": "dynamic",
            "moves": 1,
            "lastMove": cli.switch.booted,
        }
        for mac, vlan, name in sorted(found, key=lambda entry: (entry[1], entry[0]))
    ]
    rows = [[str(e["vlanId"]), _dotted(str(e["macAddress"])), "DYNAMIC", short(str(e["interface"]))] for e in entries]
    model = {
        "unicastTable": {"tableEntries": entries},
        "multicastTable": {"tableEntries": []},
        "disabledMacLearningVlans": [],
    }
    return Reply(table(["Vlan", "Mac Address", "Type", "Ports"], rows), model)


def _dotted(mac: str) -> str:
    """`0c:42:a1:00:00:01` becomes `0c42.a100.0001`."""
    digits = mac.replace(":", "")
    return ".".join(digits[index : index + 4] for index in (0, 4, 8))


COMMANDS: tuple[Command, ...] = (
    command("show lldp neighbors", _lldp_neighbors),
    command("show lldp neighbors detail", _lldp_detail),
    command("show lldp neighbors <interface>", _lldp_neighbors),
    command("show lldp neighbors <interface> detail", _lldp_detail),
    command("show mac address-table", _mac_table),
    command("show mac address-table vlan <1-4094>", _mac_table),
    command("show mac address-table interface <interface>", _mac_table),
)
