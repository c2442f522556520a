# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The current uses of a server's interfaces that would not survive a change.

What cannot be known counts as in use: a mount whose server's address is unknown, over every interface; queue pairs
that cannot be listed, over every interface of a server that has RDMA devices. What a user has mounted without root,
which any user can do with FUSE and under any name, does not count.
"""

from __future__ import annotations

import ipaddress
import json
import re
from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence

from .._host.programs import Programs
from .._plan.converge import DeviceError
from .._text.line import printable
from .server import Link, above, below

_REMOTE = re.compile(r"nfs4?|cifs|smb3|ceph|lustre|beegfs|gpfs|fuse\.(glusterfs|sshfs|ceph.*|s3fs)")
_BY_A_USER = re.compile(r"(?:.*,)?user_id=[1-9]\d*(?:,.*)?")
_KERNELS_OWN = ("GSI", "SMI")
# Of a use in words: what its user calls it shall not push what else there is to say out of a message.
LONGEST = 250


@dataclass(frozen=True)
class Mount:
    """A mounted file system of another host; ``address`` is None where it is not known."""

    path: str
    type: str
    source: str
    address: str | None

    def __str__(self) -> str:
        return f"{self.path} ({self.type} from {self.source})"


@dataclass(frozen=True)
class QueuePair:
    """An RDMA queue pair that a program, or a kernel module, has on an RDMA device."""

    rdma_device: str
    number: int
    user: str

    def __str__(self) -> str:
        return f"queue pair {self.number} on {self.rdma_device} of {self.user}"


@dataclass(frozen=True)
class UsedFunction:
    """A virtual function that somebody has taken, and in which way."""

    device: str
    index: int
    how: str

    def __str__(self) -> str:
        return f"virtual function {self.index} of {self.device} ({self.how})"


@dataclass(frozen=True)
class Uses:
    """Everything that uses the server's interfaces.

    Args:
        mounts: each with the device that its server is reached through; None where that is not known.
        netdevs: the network device of each RDMA device; None where that is not known.
        queue_pairs: None where RDMA devices exist and nobody can tell.
        functions: the virtual functions that are taken.
    """

    mounts: Sequence[tuple[Mount, str | None]] = ()
    netdevs: Mapping[str, str | None] = field(default_factory=dict)
    queue_pairs: Sequence[QueuePair] | None = ()
    functions: Sequence[UsedFunction] = ()

    def of(self, device: str, links: Mapping[str, Link]) -> list[str]:
        """Return the uses of a device as sentences: its own and those above it; for RDMA also those below it."""
        upper = {device} | above(links, device)
        stack = upper | below(links, device)
        words = [str(mount) for mount, through in self.mounts if through is None or through in upper]
        if self.queue_pairs is None:
            words.append("RDMA queue pairs that cannot be listed (is the program rdma installed?)")
        for pair in self.queue_pairs or ():
            netdev = self.netdevs.get(pair.rdma_device)
            if netdev is None or netdev in stack:
                words.append(str(pair))
        words += [str(function) for function in self.functions if function.device in stack]
        return [printable(each, LONGEST) for each in words]

    def of_functions(self, device: str, functions: Sequence[Mapping[str, Any]]) -> list[str]:
        """Who has taken some of a device's virtual functions, in words."""
        indexes = {function["index"] for function in functions}
        return [str(used) for used in self.functions if used.device == device and used.index in indexes]


def rdma_uses(programs: Programs, rdma_devices: Sequence[str]) -> Uses:
    """The queue pairs on a server's RDMA devices; without such devices nobody is asked."""
    if not rdma_devices:
        return Uses()
    pairs = programs.answer(["rdma", "-j", "resource", "show", "qp"])
    return Uses(
        netdevs=netdevs_from(programs.answer(["rdma", "-j", "link", "show"]) or ""),
        queue_pairs=None if pairs is None else queue_pairs_from(pairs),
    )


def mounts_from(text: str) -> list[Mount]:
    """The mounts of other hosts' file systems in /proc/self/mounts, but for those of users."""
    # As the kernel writes it. A user's path may have every other character that ends a line or a word.
    fields = [line.split(" ") for line in text.split("\n")]
    return [
        Mount(_unescaped(path), kind, _unescaped(source), _address(source, options))
        for source, path, kind, options in (words[:4] for words in fields if len(words) >= 4)
        if _REMOTE.fullmatch(kind) and not (kind.startswith("fuse.") and _BY_A_USER.fullmatch(options))
    ]


def route_device_from(output: str) -> str | None:
    """The device in the output of ``ip -json route get``; None where there is no route."""
    routes = _list("ip -json route get", output)
    return next((route["dev"] for route in routes if "dev" in route), None)


def netdevs_from(output: str) -> dict[str, str | None]:
    """The network device per RDMA device in the output of ``rdma -j link show``."""
    return {link["ifname"]: link.get("netdev") for link in _list("rdma -j link show", output) if "ifname" in link}


def queue_pairs_from(output: str) -> list[QueuePair]:
    """The queue pairs in the output of ``rdma -j resource show qp`` that are not the kernel's own for management."""
    pairs = _list("rdma -j resource show qp", output)
    try:
        return [
            QueuePair(pair["ifname"], pair["lqpn"], _user(pair)) for pair in pairs if pair["type"] not in _KERNELS_OWN
        ]
    except KeyError as error:
        raise DeviceError(f"rdma -j resource show qp: a queue pair without {error}") from error


def _user(pair: Mapping[str, Any]) -> str:
    name = pair.get("comm", "an unknown program")
    return f"{name} (process {pair['pid']})" if "pid" in pair else str(name)


def _address(source: str, options: str) -> str | None:
    """The server's address: an option of NFS and CIFS, or what stands before the path."""
    given = [option[len("addr=") :] for option in options.split(",") if option.startswith("addr=")]
    host = re.match(r"(?://)?\[?([0-9A-Fa-f:.]+?)\]?(?:[:/@,].*)?$", source)
    for text in [*given, *([host.group(1)] if host else [])]:
        try:
            return str(ipaddress.ip_address(text))
        except ValueError:
            continue
    return None


def _unescaped(word: str) -> str:
    """Without the octal escapes that the kernel writes for blanks."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found.group(1), 8)), word)


def _list(command: str, output: str) -> list[Any]:
    try:
        # It writes the names of programs as they are, control characters and all.
        answer = json.loads(output, strict=False) if output.strip() else []
    except ValueError as error:
        raise DeviceError(f"{command}: the answer is no JSON: {error}") from error
    if not isinstance(answer, list) or not all(isinstance(entry, dict) for entry in answer):
        raise DeviceError(f"{command}: the answer is no list of objects")
    return answer
