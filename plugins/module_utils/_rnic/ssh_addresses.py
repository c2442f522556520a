# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Over which addresses of this server the current process was started, so that they are never changed."""

from __future__ import annotations

import os
from typing import Iterator


def ssh_addresses(pid: int, proc: str = "/proc") -> frozenset[str]:
    """The server's addresses in the SSH_CONNECTION of a process and its ancestors.

    The ancestors count because sudo takes SSH_CONNECTION out of the environment.
    """
    connections = (environment.get("SSH_CONNECTION", "").split() for environment in _environments(pid, proc))
    return frozenset(_plain(words[2]) for words in connections if len(words) == 4)


def _environments(pid: int, proc: str) -> Iterator[dict[str, str]]:
    while pid > 1:
        folder = os.path.join(proc, str(pid))
        try:
            with open(os.path.join(folder, "environ"), encoding="utf-8", errors="replace") as stream:
                yield dict(entry.split("=", 1) for entry in stream.read().split("\0") if "=" in entry)
            with open(os.path.join(folder, "status"), encoding="utf-8") as stream:
                pid = next((int(line.split()[1]) for line in stream if line.startswith("PPid:")), 0)
        except OSError:
            # An ancestor ended meanwhile, or belongs to a container's outside.
            return


def _plain(address: str) -> str:
    """Without the scope of a link-local address and the prefix of an IPv4 address on an IPv6 socket."""
    address = address.split("%", maxsplit=1)[0]
    return address[len("::ffff:") :] if address.lower().startswith("::ffff:") else address
