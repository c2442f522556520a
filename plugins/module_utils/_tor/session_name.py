# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The names of our configuration sessions: whose they are, and since when."""

from __future__ import annotations

import os
import re
from calendar import timegm
from dataclasses import dataclass
from time import gmtime, strftime, strptime

LONGEST_TIMER = 3600
"""Seconds after which a session of ours has surely ended."""

# With these, a name has at most 63 characters.
USER_LENGTH, HOST_LENGTH = 9, 12

_TIME = "%Y%m%dT%H%M%SZ"
_NAME = re.compile(r"ipu-pod_([a-zA-Z0-9.-]+)_([a-zA-Z0-9.-]+)_(\d+)_(\d{8}T\d{6}Z)(?:_canary)?")


@dataclass(frozen=True)
class Owner:
    """A run of tor_switch: the user and host of the control node, the process, and the begin in seconds since 1970."""

    user: str
    host: str
    pid: int
    begin: int

    @property
    def session(self) -> str:
        """The session's name. It is a file's name on the switch: plain and short."""
        begin = strftime(_TIME, gmtime(self.begin))
        return f"ipu-pod_{_plain(self.user, USER_LENGTH)}_{_plain(self.host, HOST_LENGTH)}_{self.pid}_{begin}"


def owner_of(session: str) -> Owner | None:
    """Return the owner of a session; None if it is none of ours."""
    match = _NAME.fullmatch(session)
    if not match:
        return None
    user, host, pid, begin = match.groups()
    return Owner(user, host, int(pid), timegm(strptime(begin, _TIME)))


def is_gone(owner: Owner, host: str, now: float) -> bool:
    """Return whether an owner is gone: its process has ended on this host, or the session is too old."""
    if now > owner.begin + LONGEST_TIMER:
        return True
    return owner.host == _plain(host, HOST_LENGTH) and not _is_running(owner.pid)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _plain(text: str, length: int) -> str:
    return re.sub(r"[^a-zA-Z0-9.-]", "-", text)[:length] or "unknown"
