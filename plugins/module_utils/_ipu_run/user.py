# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who has started ipu-run: root, or a user by sudo."""

from __future__ import annotations

import grp
import os
import pwd
from dataclasses import dataclass
from typing import Mapping

from .._plan.converge import Refused


@dataclass(frozen=True)
class User:
    """A user; ``groups`` is None for root, who may have everything."""

    name: str
    uid: int
    gid: int
    home: str
    groups: tuple[str, ...] | None


def user_of(environ: Mapping[str, str]) -> User:
    """The user behind this process. Raises Refused: it does not run as root."""
    if os.geteuid() != 0:
        raise Refused(
            "only root's engines have networks on the RNIC, rootless ones cannot; write `sudo ipu-run`, which your "
            "vPOD's group may"
        )
    # sudo sets it, and lets nobody else do so.
    uid = int(environ.get("SUDO_UID", "0"))
    entry = pwd.getpwuid(uid)
    if uid == 0:
        return User(entry.pw_name, 0, 0, entry.pw_dir, None)
    groups = [grp.getgrgid(gid).gr_name for gid in os.getgrouplist(entry.pw_name, entry.pw_gid)]
    return User(entry.pw_name, uid, entry.pw_gid, entry.pw_dir, tuple(groups))


def as_user(user: User) -> list[str]:
    """The words before a command that let it run as a user, and with no right of root."""
    return ["setpriv", f"--reuid={user.uid}", f"--regid={user.gid}", "--init-groups", "--"] if user.uid else []
