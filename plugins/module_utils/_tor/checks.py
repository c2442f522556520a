# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The checks between commit and confirmation: compare a switch with an `expectation`. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Iterator, Mapping

from .._plan.converge import Refused
from .expectation import NEW_ERRORS, PAUSES_PER_SECOND, Expectation
from .observed import ERRORS, LLDP, MACS, PAUSE_FRAMES, VLAN_MEMBERS, Observed
from .session_name import LONGEST_TIMER

CONFIRM_SECONDS = range(10, LONGEST_TIMER + 1)


@dataclass(frozen=True)
class Checks:
    """The checks before a change is confirmed; ``settle_within`` is the seconds that neighbours have to return."""

    lldp: bool = True
    macs: bool = True
    errors: bool = True
    settle_within: int = 30

    @property
    def commands(self) -> list[str]:
        """The commands whose answers are compared."""
        wanted = {LLDP: self.lldp, MACS: self.macs, VLAN_MEMBERS: True, ERRORS: self.errors, PAUSE_FRAMES: self.errors}
        return [command for command, is_wanted in wanted.items() if is_wanted]


def refuse_useless_timer(confirm_within: int, checks: Checks) -> None:
    """Refuse a commit timer with which nobody can look at the switch, or for which nobody should wait.

    Raises:
        Refused: with what is possible.
    """
    if confirm_within not in CONFIRM_SECONDS:
        limits = f"{CONFIRM_SECONDS[0]} to {CONFIRM_SECONDS[-1]}"
        raise Refused(f"confirm_within: {confirm_within} seconds is no useful commit timer; give {limits}")
    if not 0 <= checks.settle_within < confirm_within:
        raise Refused(
            f"checks.settle_within: {checks.settle_within} seconds do not fit into confirm_within; "
            f"give 0 to {confirm_within - 1}, or a longer confirm_within"
        )


def missing(expected: Expectation, now: Observed) -> str | None:
    """Return what is missing and may still appear."""
    members = now.vlans_by_port()
    lost = chain(_lost_neighbours(expected, now), _lost_macs(expected, now, members))
    return next(chain(_wrong_members(expected, members), lost), None)


def broken(expected: Expectation, now: Observed, time: float) -> str | None:
    """Return problems that waiting does not mend: errors, and a storm of pause frames."""
    errors, pauses = now.errors or {}, now.pause_frames or {}
    for name, before in expected.errors.items():
        for counter, value in errors.get(name, {}).items():
            new = value - before.get(counter, 0)
            if new > NEW_ERRORS:
                return f"{name} has {new} new {counter}"
    seconds = max(time - expected.time, 1.0)
    for name, received in expected.pauses.items():
        rate = (pauses.get(name, {}).get("rx", received) - received) / seconds
        if rate > PAUSES_PER_SECOND:
            return f"{name} gets {rate:.0f} PFC frames a second, a pause storm"
    return None


def _wrong_members(expected: Expectation, members: Mapping[str, set[str]]) -> Iterator[str]:
    for name, wanted in (*expected.members.items(), *expected.with_link.items()):
        without_link = set(wanted) if name in expected.with_link else set()
        lost = set(wanted) - members.get(name, without_link)
        if lost:
            yield f"{name} does not forward in VLAN {', '.join(sorted(lost, key=int))}"
    for name, allowed in expected.at_most.items():
        surplus = members.get(name, set()) - set(allowed)
        if surplus:
            yield f"{name} still forwards in VLAN {', '.join(sorted(surplus, key=int))}"


def _lost_neighbours(expected: Expectation, now: Observed) -> Iterator[str]:
    for entry in expected.neighbours:
        neighbour = {"device": entry["device"], "port": entry["port"]}
        if neighbour not in (now.neighbours or {}).get(entry["at"], []):
            yield f"neighbour {entry['device']} is not seen at {entry['at']} any more"


def _lost_macs(expected: Expectation, now: Observed, members: Mapping[str, set[str]]) -> Iterator[str]:
    for entry in expected.macs:
        learned = any(each["mac"] == entry["mac"] for name in entry["at"] for each in (now.macs or {}).get(name, []))
        vlan = entry.get("vlan")
        if not learned and (vlan is None or vlan not in members.get(entry["at"][0], {vlan})):
            yield f"address {entry['mac']} is not seen at {' or '.join(entry['at'])} any more"
