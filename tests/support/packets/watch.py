# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames between all RNICs of the pod while it is changed: who hears whom, at every moment.

A frame is one moment: all who hear it, and who has sent it, are together then.
"""

from __future__ import annotations

import itertools
import selectors
import socket
import threading
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

from tests.support.packets.ports import Port, port_socket

# The Ethernet type of local experiments, and a mark of ours.
MARK = b"\x88\xb5ipu.pod watch"
BROADCAST = b"\xff" * 6
TAGGED = b"\x81\x00"
EVERY_PROTOCOL = 0x0003
SHORTEST, LONGEST = 64, 256
PACE_SECONDS = 0.004
# What has not arrived by then does not.
LAST_SECONDS = 0.5

NOBODY = ""


@dataclass
class Frame:
    """A broadcast of a port, tagged with a VLAN or not, and who has heard it."""

    sender: Port
    vlan: int | None
    heard_by: set[Port] = field(default_factory=set)

    def __str__(self) -> str:
        heard = ", ".join(sorted(map(str, self.heard_by)))
        return f"{self.sender}{f' in VLAN {self.vlan}' if self.vlan else ''} was heard by {heard}"


class Watch:
    """Sends and listens from ``with`` to its end, round after round."""

    def __init__(self, ports: Iterable[Port], vlans: Collection[int]) -> None:
        self.frames: list[Frame] = []
        self._ports = tuple(ports)
        self._vlans = (None, *vlans)
        self._ended = threading.Event()
        self._rounds = 0
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._ended.set()
        self._thread.join()

    def next_rounds(self, count: int) -> list[Frame]:
        """The frames of some rounds that begin after this call, as one round; a busy machine loses frames."""
        first = self._rounds + 1
        while self._rounds < first + count:
            assert self._thread.is_alive()
            time.sleep(0.05)
        time.sleep(LAST_SECONDS)
        size = len(self._ports) * len(self._vlans)
        rounds = [self.frames[number * size : (number + 1) * size] for number in range(first, first + count)]
        return [
            Frame(same[0].sender, same[0].vlan, set().union(*(frame.heard_by for frame in same)))
            for same in zip(*rounds, strict=True)
        ]

    def _work(self) -> None:
        with ExitStack() as stack, selectors.DefaultSelector() as selector:
            sockets = {port: stack.enter_context(_listening(port)) for port in self._ports}
            for port, opened in sockets.items():
                selector.register(opened, selectors.EVENT_READ, port)
            for vlan, port in itertools.cycle(itertools.product(self._vlans, self._ports)):
                if self._ended.is_set():
                    break
                self._rounds = len(self.frames) // (len(self._ports) * len(self._vlans))
                self.frames.append(Frame(port, vlan))
                # A port that is down takes none.
                with suppress(OSError):
                    sockets[port].send(_content(port, vlan, len(self.frames) - 1))
                self._listen(selector, PACE_SECONDS)
            self._listen(selector, LAST_SECONDS)

    def _listen(self, selector: selectors.BaseSelector, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                with suppress(OSError):
                    data, origin = key.fileobj.recvfrom(LONGEST)  # type: ignore[union-attr]
                    place = data.find(MARK, 0, 32)
                    if place >= 0 and origin[2] != socket.PACKET_OUTGOING:
                        number = int.from_bytes(data[place + len(MARK) : place + len(MARK) + 4], "big")
                        self.frames[number].heard_by.add(key.data)


def strangers_met(frames: Iterable[Frame], tenants: Mapping[Port, Collection[str]]) -> list[str]:
    """The frames that brought ports of different tenants together, in words.

    Args:
        frames: what was sent.
        tenants: whose each port may have been meanwhile; nobody's, too.
    """
    return [
        str(frame)
        for frame in frames
        if frame.heard_by and not set.intersection(*(set(tenants[port]) for port in (frame.sender, *frame.heard_by)))
    ]


def not_as_they_should(frames: Iterable[Frame], tenants: Mapping[Port, str]) -> list[str]:
    """Who does not hear a port of its own tenant, or hears one of another, once everything is as declared."""
    found = []
    for frame in frames:
        owner = tenants[frame.sender]
        own = {port for port, tenant in tenants.items() if tenant == owner} - {frame.sender}
        if owner != NOBODY and frame.vlan is None and own - frame.heard_by:
            found.append(f"{frame.sender} of {owner} was not heard by {', '.join(map(str, own - frame.heard_by))}")
        if frame.heard_by - own:
            found.append(f"{frame} although it is {owner or 'nobody'}'s")
    return found


def _content(port: Port, vlan: int | None, number: int) -> bytes:
    tag = b"" if vlan is None else TAGGED + vlan.to_bytes(2, "big")
    octets = bytes.fromhex(port.mac.replace(":", ""))
    return (BROADCAST + octets + tag + MARK + number.to_bytes(4, "big")).ljust(SHORTEST, b"\0")


def _listening(port: Port) -> socket.socket:
    opened = port_socket(port, socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EVERY_PROTOCOL))
    opened.bind((port.interface, EVERY_PROTOCOL))
    return opened
