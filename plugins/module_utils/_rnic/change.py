# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decides from one survey of a server who changes what, and what forbids it. Pure.

The module has it from the server itself, a plan from a look at it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping, Sequence

from .._plan.converge import Refused
from .._plan.steps import DESTRUCTIVE, DISRUPTIVE, Fields, Step
from . import network_manager, virtual_functions
from .backends import backend_for, claim_of
from .declared import BOND, NIC, VLAN, Interface
from .plan import Planner
from .profile import device_before
from .server import Link, Server, below
from .targets import devices_of, targets_on
from .uses import Uses


def planner_on(
    server: Server, interfaces: Sequence[Interface], backend: str, replaced: bool = False, may_be_stopped: bool = False
) -> Planner:
    """Who plans for the declared interfaces of a server.

    Args:
        replaced: whether settings that are not declared get their defaults.
        may_be_stopped: take a daemon that is not running as one that configures nothing yet.

    Raises Refused: an interface cannot be, or must not be touched.
    """
    devices = devices_of(server, interfaces)
    there = [device for device in devices.values() if device in server.links]
    chosen = backend_for(backend, server, there, may_be_stopped)
    return Planner(targets_on(server, interfaces, chosen, replaced), chosen, replaced)


def disruptive_steps(steps: Sequence[Step]) -> list[Step]:
    """The steps that whoever uses the interface would feel."""
    return [step for step in steps if step.risk in (DISRUPTIVE, DESTRUCTIVE) and device_before(step)]


def stack_of(steps: Sequence[Step], server: Server) -> list[str]:
    """The devices that the steps change, and those below them."""
    devices = {device_before(step) for step in steps}
    return sorted(devices.union(*(below(server.links, device) for device in devices)))


def refuse_used(steps: Sequence[Step], uses: Uses, links: Mapping[str, Link]) -> None:
    """Refuse steps that would disturb somebody. Raises Refused: the first step that does, and whom."""
    for step in steps:
        device = device_before(step)
        altered = virtual_functions.altered(step.before or {}, step.after or {})
        words = uses.of(device, links) if altered is None else uses.of_functions(device, altered)
        if words:
            raise Refused(f"interface {step.name}: {device} is in use: {'; '.join(words)}; end that first")


def predicted(server: Server, steps: Sequence[Step]) -> Server:
    """Return the predicted survey after these steps."""
    links = dict(server.links)
    files = dict(server.files)
    claims = {device: dict(paths) for device, paths in server.claims.items()}
    for step in steps:
        for path in (step.before or {}).get("files", {}):
            files.pop(path, None)
        if step.after is None:
            gone = device_before(step)
            claims.pop(gone, None)
            links = {
                name: replace(link, master=None) if link.master == gone else link
                for name, link in links.items()
                if name != gone
            }
        else:
            device = step.after["device"]
            files.update(step.after["files"])
            claims.setdefault(device, {})[_claimant(step.after["network_file"])] = step.after["network_file"]
            links[device] = _link(links.get(device), step.after)
    return replace(server, links=links, files=files, claims=claims)


def _claimant(file: str) -> str:
    """The back end that configures a device from a file of ours."""
    return "networkmanager" if file.startswith(network_manager.DIRECTORY) else claim_of(file)


def _link(there: Link | None, after: Fields) -> Link:
    link = there or Link(after["device"], 0, after["type"], "", True, 0, 0, 0, (), (), frozenset(), None, None)
    old, new = ({address.split("/")[0] for address in each} for each in (link.addresses, after["addresses"]))
    link = replace(
        link,
        up=after["up"],
        mtu=after["mtu"],
        addresses=tuple(after["addresses"]),
        dynamic=(),
        ips=(link.ips - old) | new,
    )
    if after["type"] == NIC:
        return replace(link, master=after["bond"] or None, virtual_functions=tuple(after["virtual_functions"]))
    if after["type"] == VLAN:
        return replace(link, parent=after["parent"], vlan_id=after["vlan_id"])
    return replace(link, bond_mode=after["mode"]) if after["type"] == BOND else link
