# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A commit that waits for its confirmation, as plain data: what was planned, and what has to hold."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from difflib import SequenceMatcher
from typing import Any, Collection, Mapping

from .._plan.converge import Refused
from .._plan.steps import State, changed_fields, reason_for
from .plan import state_of
from .running_config import RunningConfig
from .secrets import digests, header_of


@dataclass(frozen=True)
class Pending:
    """One committed session whose timer runs.

    Attributes:
        confirm_within: seconds from the commit until the switch undoes it.
        planned: the state of everything that is declared, as it has to be now.
        names: everything that is declared or in the scope, by kind.
        removed_vlans: VLANs that the change removed altogether.
        foreign: what everything else has to be: a digest of each line by the key of the run; lines may hold secrets.
        reachable: whether the switch took new connections before.
        commands: what to look at, as far as this switch answers it.
        settle_within: seconds until what was seen has to be there again.
        expectation: the values of :class:`expectation.Expectation`.
        unsaved: the values of :class:`unsaved.Unsaved`, as they are after the change.
    """

    session: str
    confirm_within: int
    planned: State
    names: dict[str, list[str]]
    removed_vlans: list[str]
    foreign: list[str]
    reachable: bool
    commands: list[str]
    settle_within: int
    expectation: dict[str, Any]
    unsaved: dict[str, Any]

    def plain(self) -> dict[str, Any]:
        """This as plain data, see :func:`pending_of`."""
        return asdict(self)

    def without_addresses_at(self, ports: Collection[str]) -> Pending:
        """The same, but no address has to be learned again that was learned at one of these ports."""
        macs = [entry for entry in self.expectation["macs"] if entry["at"][0] not in ports]
        return replace(self, expectation={**self.expectation, "macs": macs})

    def mismatch(self, now: RunningConfig, key: str) -> str | None:
        """Return what the switch has now that was not planned: on declared things, or in lines of somebody else."""
        actual = state_of(self.names, now)
        for kind, names in self.names.items():
            for name in names:
                planned, there = self.planned[kind].get(name), actual[kind].get(name)
                if planned is None and there is not None:
                    return f"{kind} {name} is still there"
                changes = changed_fields(there or {}, planned or {})
                if changes:
                    return f"{kind} {name}: {reason_for(there or {}, changes)}"
        return self._foreign_changes(now, key)

    def _foreign_changes(self, now: RunningConfig, key: str) -> str | None:
        lines = now.foreign_lines(self.names, self.removed_vlans)
        matcher = SequenceMatcher(None, self.foreign, digests(lines, key), autojunk=False)
        changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
        if not changes:
            return None
        gone = sum(end - begin for _tag, begin, end, _first, _last in changes)
        new = list(dict.fromkeys(header_of(line) for *_range, first, last in changes for line in lines[first:last]))
        appeared = f"new are: {' | '.join(new[:4])}" if new else "none is new"
        return f"lines that are not part of it changed meanwhile: {gone} vanished, {appeared}"


def pending_of(plain: Mapping[str, Any]) -> Pending:
    """The commit that a call with ``confirm: false`` returned.

    Raises:
        Refused: that is something else.
    """
    try:
        return Pending(**plain)
    except TypeError as error:
        raise Refused(
            "pending: it is not what a call with confirm: false returned; hand that over unchanged"
        ) from error
