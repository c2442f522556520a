# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Remedies for a device that is not reached."""

from __future__ import annotations

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._text.remedy import turned_away, with_remedy

# As OpenSSH says it.
CHANGED = """Failed to connect to the host via ssh: @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!
It is also possible that a host key has just been changed.
Offending ED25519 key in /root/.ssh/known_hosts:2
Host key for 10.3.1.102 has changed and you have requested strict checking.
Host key verification failed."""


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        (
            "ssh: connect to host 10.3.1.102 port 22: Connection timed out",
            "start it, or correct its address in pods.yml",
        ),
        ("root@10.3.1.101: Permission denied (publickey)", "correct how the inventory says to log in"),
        ("HTTP Error 401: Unauthorized", "correct how the inventory says to log in"),
        ("No ED25519 host key is known. Host key verification failed", "if it was installed again, replace its key in"),
        ("Incorrect sudo password", "correct how the inventory says to become root (ansible_become and its password)"),
        ("Incorrect su password", "correct how the inventory says to become root (ansible_become and its password)"),
        (
            "Data could not be sent to remote host 'p'. Make sure this host can be reached over SSH.",
            "log in to it with ssh to see why, and put that right",
        ),
        ("[Errno 28] No space left on device", "free space on the disk that is full, and run the same playbook again"),
    ],
)
def test_the_remedy_is_that_of_the_message(said: str, remedy: str) -> None:
    assert with_remedy(said).startswith(f"{said}; {remedy}")
    assert turned_away(said) == (not remedy.startswith(("start it", "log in to it", "free space")))


def test_a_remedy_is_given_once() -> None:
    once = with_remedy("HTTP Error 401: Unauthorized")
    assert with_remedy(once) == once


def test_of_a_changed_host_key_one_sentence_is_left() -> None:
    assert with_remedy(CHANGED).startswith(
        "Failed to connect to the host via ssh: Host key for 10.3.1.102 has changed and you have requested strict "
        "checking. Host key verification failed.; if it was installed again, replace its key in known_hosts; "
    )
