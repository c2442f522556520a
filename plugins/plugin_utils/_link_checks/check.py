# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Both ends of every cable between a Poplar server and its ToR switch: declared, and as they were seen. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from .addresses import Claim, clashes, subnet_findings
from .cables import Cable, cables_of, members_of
from .devices import Options, SeenServer, Server, Switch, server_after, settings_of, switch_after
from .ends import declared_port, nic_end
from .mismatches import Mismatch, end, mismatches

# The groups whose devices a run may make as declared.
SERVERS, SWITCHES = "poplar_servers", "switches"

MORE_INTERFACES, ROCE = "poplar_server_more_interfaces", "poplar_server_roce"


def declared_mismatches(
    servers: Sequence[Server], switches: Mapping[str, Switch], planned: Sequence[Claim]
) -> list[str]:
    """Return contradictions between variables of roles and pods.yml, which gives ``planned``, one sentence each."""
    found = [
        str(mismatch)
        for server in servers
        if server.switch in switches
        for mismatch in _declared(server, switches[server.switch])
    ]
    claims: list[Claim] = []
    for server in servers:
        others = [each for each in server.interfaces if each["name"] != server.rnic]
        claims += _claims(server.name, others, {}, MORE_INTERFACES)
    return [*found, *subnet_findings(servers), *clashes(claims, planned)]


def seen_mismatches(
    servers: Sequence[Server],
    switches: Mapping[str, Switch],
    planned: Sequence[Claim],
    repaired: Collection[str] = (),
) -> list[str]:
    """What was seen at the two ends of one cable that cannot work, one sentence each.

    Devices that were not looked at are passed over. ``repaired`` are :data:`SERVERS`, :data:`SWITCHES`, neither or
    both: what the run that follows makes as declared. What it sets right is no mismatch.
    """
    found: list[str] = []
    claims: list[Claim] = []
    for server in servers:
        seen = server_after(server) if SERVERS in repaired else server.seen
        if seen is None:
            continue
        vlans: dict[str, int | None] = {}
        for cable in _cables(server, seen, switches.get(server.switch), SWITCHES in repaired):
            vlans[cable.device] = cable.port.untagged
            found += [str(mismatch) for mismatch in _disagreements(cable)]
            if cable.is_declared:
                found += _misplaced(cable, server)
                if not _will_be_up(cable, repaired):
                    found += _link(cable, seen)
        claims += _claims(server.name, seen.interfaces, vlans)
    return [*found, *clashes(claims, planned)]


def _declared(server: Server, switch: Switch) -> list[Mismatch]:
    """The RNIC that pods.yml declares, with the variables of the role on it; pods.yml alone agrees with itself."""
    names = [server.rnic, *members_of(server.rnic, server.interfaces)]
    entries = [each for each in server.interfaces if each["name"] in names] or [{"name": server.rnic}]
    roce = next((found for found in (settings_of(each, server.roce) for each in entries) if found), {})
    nic = nic_end(server.name, server.rnic, server.interfaces, roce)
    in_qos = f"pods.{server.pod}.tor.roce"
    source = {"tagged": MORE_INTERFACES, "pfc": ROCE, "trust": ROCE, "dscp_map": ROCE}
    port = replace(
        declared_port(switch.name, switch.declared, server.ports[0]),
        source={"vlan": f"pods.{server.pod}.vlans", "pfc": in_qos, "trust": in_qos, "dscp_map": in_qos},
    )
    return mismatches(replace(nic, source=source), port)


def _cables(server: Server, seen: SeenServer, switch: Switch | None, is_repaired: bool) -> list[Cable]:
    if switch is None or switch.seen is None:
        return []
    return cables_of(server, seen, switch, switch_after(switch, switch.seen) if is_repaired else switch.seen)


def _disagreements(cable: Cable) -> list[Mismatch]:
    found = mismatches(cable.nic, cable.port)
    wanted, mtu = cable.declared_mtu, cable.nic.mtu
    if wanted is None or mtu is None or mtu == wanted or any(each.setting == "mtu" for each in found):
        return found
    ends = (end(cable.nic.name, f"MTU {mtu}"), end(cable.port.name, f"MTU {cable.port.mtu}"))
    remedy = f"MTU {wanted} is declared for the NIC; run playbooks/poplar_servers.yml, or declare {mtu}"
    return [*found, Mismatch("mtu", ends, remedy)]


def _misplaced(cable: Cable, server: Server) -> Iterator[str]:
    if cable.port_name not in server.ports:
        declared = ", ".join(server.ports)
        yield (
            f"{cable.nic.name} and {end(cable.port.name, 'where the switch sees it')}: pods.yml says {declared}; "
            "move the cable, or correct switch_ports"
        )


def _link(cable: Cable, seen: SeenServer) -> Iterator[str]:
    """What is wrong with the link or the firmware of a NIC that should work."""
    name, nic, port, minimum = cable.nic.name, cable.link, cable.port.name, seen.minimum
    if not nic["up"]:
        yield f"{end(name, 'switched off')} and {port}: switch the NIC on, or run playbooks/poplar_servers.yml"
    elif not nic["carrier"]:
        other = end(port, "switched on" if cable.port_enabled else "switched off")
        on = "switch the port on, or give it `enabled: true` in pods.yml"
        remedy = "check the cable and its transceivers" if cable.port_enabled else on
        yield f"{end(name, 'no link')} and {other}: {remedy}"
    elif nic["speed_verdict"] == "slower":
        speed, wanted = nic["speed"], f"at least {minimum['speed']} Mbit/s are expected"
        remedy = "check cable, transceivers and forced speeds, or set preflight_minimum_speed"
        yield f"{end(name, f'{speed} Mbit/s')} and {port}: {wanted}; {remedy}"
    if nic["firmware"]["verdict"] == "older":
        version = nic["firmware"]["version"]
        yield (
            f"{end(name, f'firmware {version}')} and preflight_minimum_firmware ({minimum['firmware']}): "
            "update the NIC's firmware, or set another minimum"
        )


def _will_be_up(cable: Cable, repaired: Collection[str]) -> bool:
    """Whether the run that follows switches on what is off."""
    if not cable.link["up"]:
        return SERVERS in repaired
    return not cable.port_enabled and SWITCHES in repaired and cable.port_wanted.get("enabled") is True


def _claims(
    host: str, interfaces: Sequence[Options], vlans: Mapping[str, int | None], source: str | None = None
) -> Iterator[Claim]:
    for each in interfaces:
        vlan = each.get("vlan_id") or next(
            (vlans[device] for device in (each["name"], *(each.get("members") or ())) if device in vlans), None
        )
        for address in each.get("addresses") or ():
            bare = address.partition("/")[0]
            yield Claim(bare, host, end(f"{host} {each['name']}", bare, source), vlan)
