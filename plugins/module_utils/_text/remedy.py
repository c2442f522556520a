# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Remedies for a device that is not reached or full, from the messages of ssh, sudo, eAPI or the system. Pure."""

from __future__ import annotations

import re

from .line import one_line

ANSWER = "start it, or correct its address in pods.yml"
LOG_IN = "correct how the inventory says to log in"
BECOME_ROOT = "correct how the inventory says to become root (ansible_become and its password)"
HOST_KEY = (
    "if it was installed again, replace its key in known_hosts; if it was not, find out who answers at its address"
)
SEE_WHY = "log in to it with ssh to see why, and put that right"
FREE_SPACE = "free space on the disk that is full, and run the same playbook again"
_NO_SPACE = "no space left on device"
_REMEDIES = (
    ((_NO_SPACE,), FREE_SPACE),
    (("host key verification failed", "host identification has changed"), HOST_KEY),
    (("sudo", "su password", "become password"), BECOME_ROOT),
    (("permission denied", "authentication", "unauthorized", "invalid/incorrect password"), LOG_IN),
    # All that Ansible says where ssh ends before it has taken what is sent to the host.
    (("can be reached over ssh.",), SEE_WHY),
)
# What ssh says at length before it says which host's key has changed.
_BANNER = re.compile(r"@{9,}.*?(?=host key for )", re.IGNORECASE)
# Ansible's words where a password does not make root; the task has failed then, and the host counts as reached.
_NO_ROOT = re.compile(r"(?:Task failed: )?(?:Incorrect|Missing) \S+ password")


def is_not_root(said: str) -> bool:
    """Whether a task has failed because somebody could not become root."""
    return _NO_ROOT.match(said) is not None


def is_full(said: str) -> bool:
    """Whether a task has failed because a disk is full."""
    return _NO_SPACE in said.lower()


def turned_away(said: str) -> bool:
    """Whether somebody is there and refuses."""
    return _remedy(said) in (HOST_KEY, BECOME_ROOT, LOG_IN)


def with_remedy(said: str) -> str:
    """The same as one line with what to do, once."""
    line = _BANNER.sub("", one_line(said))
    remedy = _remedy(line)
    return line if line.endswith(remedy) else f"{line}; {remedy}"


def _remedy(said: str) -> str:
    words = said.lower()
    return next((remedy for signs, remedy in _REMEDIES if any(sign in words for sign in signs)), ANSWER)
