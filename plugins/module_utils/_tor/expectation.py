# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The expectation for a switch after a change, from what was seen before it. Pure.

The one place where the rules are; they are about what the change may have broken. Only neighbours and addresses that
were seen before the change are required after it.

- A neighbour is there again at a changed port, or one that is or was in a changed port channel, and at the management
  ports; but not at a port that the change disables or on which it turns LLDP off. Whether a neighbour speaks elsewhere
  is in the hands of whoever is root there.
- A port that was in a VLAN forwards again, in its VLANs, and in no other. `show vlan` lists ports with a link. A port
  channel has one as long as a member stays in it and is on. Whether a port that the change does not touch has a link is
  in the hands of whoever is root at its other end, but for the management ports.
- An address is learned at its port again, or at the port channel that the port joined. EOS forgets an address after
  some minutes of silence, and at once where a port changes its VLANs. So at a port that the change does not touch, it
  suffices that the port is still in the address's VLAN. An address is not expected where its port is disabled, its
  VLAN is removed, or a trunk drops its VLAN. What came untagged is in the native VLAN of a trunk, if it carries that.
- A changed port has at most ``NEW_ERRORS`` new errors, and gets at most ``PAUSES_PER_SECOND`` PFC frames.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Sequence

from .._plan.steps import Fields
from .observed import Observed
from .running_config import RunningConfig
from .spelling import ACCESS, CHANNEL, EVERY_VLAN, MANAGEMENT, TRUNK, vlan_ids

NEW_ERRORS = 10
PAUSES_PER_SECOND = 1000
"""A port that is paused all the time at 100 Gbit/s gets about 3000 PFC frames a second."""

Ports = Mapping[str, Fields]


@dataclass(frozen=True)
class Expectation:
    """The state that the checks require after a change. Plain data, so that a later call can carry it.

    Attributes:
        neighbours: each with ``at`` (port), ``device`` and ``port``.
        macs: each with ``mac``, ``at`` (the ports where it may be), and ``vlan`` (as text) if it suffices that the
            first of these ports is still in that VLAN.
        members: port to the VLANs, as text, that it has to be in.
        with_link: port that the change does not touch to the same, if it has a link.
        at_most: changed port to the VLANs, as text, that it may be in; missing where that is every VLAN.
        errors: changed port to its error counters before.
        pauses: changed port to the PFC frames that it had received before.
        time: of these counters, in seconds.
    """

    neighbours: list[dict[str, str]]
    macs: list[dict[str, Any]]
    members: dict[str, list[str]]
    with_link: dict[str, list[str]]
    at_most: dict[str, list[str]]
    errors: dict[str, dict[str, int]]
    pauses: dict[str, int]
    time: float


def expectation(
    seen: Observed, running: RunningConfig, ports: Ports, vlans: Mapping[str, Fields], time: float
) -> Expectation:
    """Return what the checks have to find after a change, from what was seen before it at ``time``, in seconds.

    ``running`` was configured before it; ``ports`` and ``vlans`` are all of them as planned.
    """
    errors, pauses = seen.errors or {}, seen.pause_frames or {}
    changed = [name for name, fields in ports.items() if fields != running.ports.get(name)]
    affected = {name for name in ports if {name, _channel(running.ports, name), _channel(ports, name)} & {*changed}}
    members = dict(_members(seen, running, ports, vlans))
    untouched = {name for name in members if name not in affected and not name.startswith(MANAGEMENT)}
    return Expectation(
        neighbours=[
            {"at": name, **neighbour}
            for name, there in (seen.neighbours or {}).items()
            if name in affected or name.startswith(MANAGEMENT)
            if _is_on(ports, name) and ports.get(name, {}).get("lldp", True)
            for neighbour in there
        ],
        macs=[
            expected
            for name, there in (seen.macs or {}).items()
            for entry in there
            for expected in _mac(entry["mac"], str(entry["vlan"]), name, running.ports, ports, vlans)
        ],
        members={name: wanted for name, wanted in members.items() if name not in untouched},
        with_link={name: wanted for name, wanted in members.items() if name in untouched},
        at_most={
            name: sorted(_allowed(ports[name])) for name in changed if name in members and _is_restricted(ports[name])
        },
        errors={name: dict(errors[name]) for name in changed if name in errors},
        pauses={name: pauses[name]["rx"] for name in changed if name in pauses},
        time=time,
    )


def _is_on(ports: Ports, name: str) -> bool:
    return bool(ports.get(name, {}).get("enabled", True))


def _has_link(name: str, before: Ports, after: Ports, channels: Sequence[str | None]) -> bool:
    """Whether a port is on; of a port channel, whether a member is left on that is then in one of these channels."""
    members = [each for each in before if _channel(before, each) == name]
    left = [each for each in members if _is_on(after, each) and _channel(after, each) in channels]
    return _is_on(after, name) and bool(left or not members)


def _channel(ports: Ports, name: str) -> str | None:
    group = ports.get(name, {}).get("channel_group")
    return f"{CHANNEL}{group}" if group else None


def _members(
    seen: Observed, running: RunningConfig, ports: Ports, vlans: Mapping[str, Fields]
) -> Iterator[tuple[str, list[str]]]:
    """The ports that forwarded before, each with the VLANs that it has to forward in."""
    for name, were in seen.vlans_by_port().items():
        if name not in ports or _channel(ports, name) or not _has_link(name, running.ports, ports, [name]):
            continue
        fields, kept = ports[name], were & vlans.keys()
        if fields == running.ports.get(name):
            yield name, sorted(kept, key=int)
            continue
        # What else keeps a port out of a VLAN is not known here, so only ordinary VLANs are expected anew.
        ordinary = vlans.keys() - running.special_vlans
        yield name, sorted((_allowed(fields) if _is_restricted(fields) else were) & ordinary, key=int)


def _is_restricted(fields: Fields) -> bool:
    return not (fields["mode"] == TRUNK and fields["allowed_vlans"] == EVERY_VLAN)


def _allowed(fields: Fields) -> set[str]:
    """The VLANs, as text, that a port may forward in."""
    allowed = {fields["vlan"]} if fields["mode"] == ACCESS else vlan_ids(fields["allowed_vlans"])
    return set(map(str, allowed))


def _mac(
    mac: str, vlan_id: str, name: str, before: Ports, after: Ports, vlans: Mapping[str, Fields]
) -> Iterator[dict[str, Any]]:
    """Return the expectation for one learned address: nothing or one entry."""
    if not _has_link(name, before, after, [name, None]) or vlan_id not in vlans:
        return
    old, new = before.get(name), after.get(name)
    channel = _channel(after, name)
    former = [each for each in before if _channel(before, each) == name and _channel(after, each) != name]
    if old == new and not former:
        yield {"mac": mac, "at": [name], "vlan": vlan_id}
        return
    if not channel and new and new["mode"] == TRUNK and int(vlan_id) not in vlan_ids(new["allowed_vlans"]):
        untagged = old["vlan"] if old and old["mode"] == ACCESS else (old or {}).get("native_vlan")
        if vlan_id != str(untagged) or str(new["native_vlan"]) not in _allowed(new):
            return
    yield {"mac": mac, "at": [name, *([channel] if channel else []), *former]}
