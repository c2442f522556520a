# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One run at a time on each pod: who gets the lock, who keeps it, and the message for the others.

The lock of a run on this control node holds as long as its process lives. Of a run elsewhere nobody can see whether it
lives, so its lock is a lease, which the run renews.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Collection

from .._host.store import Store
from .._plan.converge import NOT_UNDERSTOOD, Refused
from .._text.line import one_line
from .run import Run, moment, run_from, seconds_of, spoken

_LOST = "nothing more is changed; see that nobody else is at work, and run again"


@dataclass(frozen=True)
class Lock:
    """Who holds a pod. Times are as :func:`run.moment` gives them, the lease is in minutes."""

    pod: str
    holder: Run
    since: str
    renewed: str
    lease: int

    @property
    def ends(self) -> float:
        """When the lease ends, in seconds since 1970."""
        return seconds_of(self.renewed) + self.lease * 60

    def is_of(self, run: Run) -> bool:
        """Whether that run holds it."""
        return self.holder.identity == run.identity

    def public(self) -> dict[str, Any]:
        """The lock as plain data."""
        mine = {"pod": self.pod, "since": self.since, "renewed": self.renewed, "lease": self.lease}
        return {**mine, **self.holder.public()}

    def text(self) -> str:
        """The lock as it stands in its file."""
        return json.dumps(self.public(), indent=2) + "\n"


def lock_name(pod: str) -> str:
    """The file of a pod's lock."""
    return f"{pod}.lock"


def lock_of(pod: str, store: Store) -> Lock | None:
    """Who holds a pod, or None. Raises Refused: its file holds something else than a lock."""
    text = store.read(lock_name(pod))
    return None if text is None else lock_from(text, store.path(lock_name(pod)))


def lock_from(text: str, path: str) -> Lock:
    """The lock in a file. Raises Refused: the file is something else; ``path`` says which."""
    try:
        data = json.loads(text)
        for time in ("since", "renewed"):
            seconds_of(data[time])
        return Lock(one_line(data["pod"]), run_from(data), data["since"], data["renewed"], int(data["lease"]))
    except NOT_UNDERSTOOD:
        raise Refused(f"{path} is no lock of a pod; look who wrote it, and remove it if nobody is at work") from None


def hold(
    pod: str, there: Lock | None, run: Run, lease: int, now: float, gone: Collection[str], path: str
) -> tuple[Lock, str]:
    """The lock that the run gets, and a warning if it took the place of another run, else an empty text.

    Args:
        lease: how long the lock holds without being renewed, in minutes.
        now: seconds since 1970.
        gone: identities of runs that are known to be dead.
        path: the lock's file and its host, for the person who reads the message.

    Raises Refused: another run holds it.
    """
    mine = Lock(pod, run, moment(now), moment(now), lease)
    if there is None:
        return mine, ""
    if there.is_of(run):
        return Lock(pod, run, there.since, moment(now), lease), ""
    previous = f"{pod} was held by {there.holder.by} since {spoken(there.since)}"
    if there.holder.identity in gone:
        return mine, f"{previous}, which is dead; what it left undone is done now if it is declared"
    if _lives_here(there, run):
        raise Refused(f"{held(there)}; wait until that run has ended")
    if now >= there.ends:
        return mine, f"{previous}, which has not renewed its lock since {spoken(there.renewed)}; it is taken to be dead"
    raise Refused(
        f"{held(there)}; wait until that run has ended, or until {spoken(moment(there.ends))} if it does not renew its "
        f"lock, or remove {path} if you know that it is dead"
    )


def renew(pod: str, there: Lock | None, run: Run, lease: int, maximum_age: int, now: float, path: str) -> Lock:
    """The lock that the run still has, renewed; as it is once it is older than ``maximum_age`` minutes.

    A lease that has ended is renewed, too, as long as nobody has taken the lock.

    Raises Refused: the run has the lock no more, so that others may have changed the pod.
    """
    if there is None:
        raise Refused(f"{path}: the lock of {pod}, which this run has to hold, is gone; {_LOST}")
    if not there.is_of(run):
        raise Refused(f"{held(there)}, and by this run no more; {_LOST}")
    if now < seconds_of(there.since) + maximum_age * 60:
        return replace(there, renewed=moment(now), lease=lease)
    if now < there.ends:
        return there
    raise Refused(
        f"{path}: the lock of {pod} has ended, as this run has it since {spoken(there.since)}, longer than "
        f"pod_lock_maximum_age allows ({maximum_age} minutes); {_LOST}"
    )


def held(lock: Lock) -> str:
    """Who holds it, for a person."""
    return f"{lock.pod} is held by {lock.holder.by} since {spoken(lock.since)}"


def _lives_here(lock: Lock, run: Run) -> bool:
    """Whether the holder runs where it can be seen; it is not among the dead, so it lives."""
    return bool(run.node) and lock.holder.node == run.node
