# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that a reload would take back, ours and that of others: running-config against startup-config. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Collection, Iterator, Sequence

from .._plan.converge import Refused
from .._plan.steps import UPDATE, Fields, Step
from .declared import Declared
from .plan import covered, plan
from .running_config import PORTS, PROFILES, QUEUES, VLANS, Names, RunningConfig, parse, thing
from .secrets import header_of
from .session import SAVE
from .spelling import vlan_ids

STARTUP = "startup_config"
"""The kind of the one thing that a switch is saved in."""
NAME = "startup-config"

# So many things or lines are told, and so much of each; the switch shows all of them.
_TOLD, _LENGTH = 4, 60


@dataclass(frozen=True)
class Unsaved:
    """The differences between what runs and what a reload would load.

    Attributes:
        ours: things that are as declared, and would not be any more.
        foreign: lines of others, or the headers of their blocks; to save would keep them for good.
        unknown: why none of this can be told; empty where it can.
    """

    ours: Sequence[str] = ()
    foreign: Sequence[str] = ()
    unknown: str = ""

    @property
    def may_be_saved(self) -> bool:
        """Whether nothing but what is ours would be saved."""
        return not (self.foreign or self.unknown)

    @property
    def steps(self) -> list[Step]:
        """The step that saves what is ours; none where nothing is to be saved, or not without what others have made."""
        if not (self.ours and self.may_be_saved):
            return []
        reason = f"in force, but not saved, and lost at the next reload: {_listed(self.ours)}"
        return [Step(UPDATE, STARTUP, NAME, reason, before={"saved": False}, after={"saved": True})]

    @property
    def problem(self) -> str:
        """Why what is ours is not saved; empty where it is, or can be."""
        if self.unknown:
            return f"whether its configuration is saved cannot be told: {self.unknown}"
        if not (self.ours and self.foreign):
            return ""
        return (
            f"in force, but not saved, and lost at the next reload: {_listed(self.ours)}; to be saved only together "
            f"with lines of others, which are not saved either: {_listed(self.foreign)}"
        )

    @property
    def remedy(self) -> str:
        """The remedy for the problem."""
        if self.unknown:
            return f"look at `show running-config diffs` on the switch, and save it with `{SAVE}`"
        return f"ask who has entered these lines to take them back, or save them with all the rest: `{SAVE}`"


def unsaved(declared: Declared, running: RunningConfig, startup: RunningConfig | None, unread: str = "") -> Unsaved:
    """Return what is not saved, where ``declared`` is all that is ours on the switch.

    Of a thing of ours, that is foreign which differs even after the same plan has been carried out on both
    configurations. ``startup`` is None where it could not be read, for the reason ``unread``.
    """
    if startup is None:
        return Unsaved(unknown=unread)
    if (running.state, running.blocks) == (startup.state, startup.blocks):
        return Unsaved()
    try:
        wanted, reloaded = running.after(plan(declared, running)), startup.after(plan(declared, startup))
    except Refused as refusal:
        return Unsaved(unknown=f"what is declared does not fit the startup-config: {refusal}")
    names = _covered_by_both(declared, running, startup)
    ours, foreign = [], []
    for kind, name in ((kind, name) for kind, of_kind in names.items() for name in of_kind):
        now, then, now_wanted, then_wanted = (
            thing(config.state, kind, name) for config in (running, startup, wanted, reloaded)
        )
        if _is_foreign(declared.wanted[kind].get(name, {}), now_wanted, then_wanted, names[VLANS]):
            foreign.append(_header(kind, name))
        elif now == now_wanted and now != then:
            ours.append(f"{kind.replace('_', ' ')} {name}")
    foreign += _foreign_headers(names, running, startup)
    return Unsaved(ours, list(dict.fromkeys(foreign)))


def startup_of(text: str) -> RunningConfig:
    """A startup-config, read; a person may have written it without its last line."""
    return parse(text if text.rstrip().endswith("\nend") else f"{text}\nend")


def _covered_by_both(declared: Declared, running: RunningConfig, startup: RunningConfig) -> dict[str, list[str]]:
    """The names of all things that are ours, by kind, also of those that only one of the configurations has."""
    here, there = covered(declared, running), covered(declared, startup)
    return {kind: list(dict.fromkeys([*here.get(kind, ()), *there.get(kind, ())])) for kind in {**here, **there}}


def _is_foreign(wanted: Fields, now: Fields | None, then: Fields | None, our_vlans: Collection[str]) -> bool:
    """Return whether two states of a thing differ in what is not declared."""
    if now is None or then is None:
        return now is not then
    for field in (field for field in now if now[field] != then[field]):
        if field == "allowed_vlans":
            # A trunk keeps the VLANs that it has, also those that an earlier change of ours has left on it.
            different = vlan_ids(now[field]) ^ vlan_ids(then[field])
            if {str(vlan_id) for vlan_id in different}.difference(our_vlans):
                return True
        elif wanted.get(field) is None:
            return True
    return False


def _foreign_headers(names: Names, running: RunningConfig, startup: RunningConfig) -> Iterator[str]:
    """The headers of the lines of others that only one of the configurations has."""
    # A VLAN of ours goes with all that others have said of it.
    gone = [name for name in names[VLANS] if (name in running.vlans) != (name in startup.vlans)]
    now, then = (Counter(config.foreign_lines(names, gone)) for config in (running, startup))
    return (header_of(line) for line in (*(now - then), *(then - now)))


def _header(kind: str, name: str) -> str:
    """The line that a thing has its block below, as far as it has one."""
    if kind == PORTS:
        return f"interface {name}"
    if kind in (PROFILES, QUEUES):
        return f"qos profile {name.split(maxsplit=1)[0]}"
    return f"{kind.replace('_', ' ')} {name}"


def _listed(items: Sequence[str]) -> str:
    """Some of them, and how many more there are."""
    more = f" and {len(items) - _TOLD} more" if len(items) > _TOLD else ""
    return f"{', '.join(item[:_LENGTH] for item in items[:_TOLD])}{more}"
