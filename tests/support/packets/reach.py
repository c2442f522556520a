# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which ports of the simulated pod reach which: with raw frames, and with pings, each at the full MTU.

Every frame and every ping has a number, so that all are on their way at once and each answer finds its question.
"""

from __future__ import annotations

import selectors
import socket
import struct
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from tests.support.packets.ports import Port, port_socket

MTU = 9000
BROADCAST = "ff:ff:ff:ff:ff:ff"
TAGGED = b"\x81\x00"
# It begins with the Ethernet type of local experiments.
FRAME_MARK = b"\x88\xb5ipu.pod frame"
PING_MARK = b"ipu.pod ping"
ETHERNET_TYPE = 2
LONGEST = MTU + 64
EVERY_PROTOCOL = 0x0003
IP_MTU_DISCOVER, IP_PMTUDISC_DO = 10, 2
IP_HEADER, ICMP_HEADER = 20, struct.Struct("!BBHHH")
ECHO_REQUEST, ECHO_REPLY = 8, 0
# An Open vSwitch port takes a few jumbo frames at once.
PACE_SECONDS = 0.002
# What has not come after so long a silence does not come.
SILENCE_SECONDS = 1.5


@dataclass(frozen=True)
class Frame:
    """A frame of full size that a port sends to a MAC address, with a VLAN tag of its own or without."""

    sender: Port
    to: str
    vlan: int | None = None

    def content(self, number: int) -> bytes:
        """All of the frame, with its number."""
        tag = b"" if self.vlan is None else TAGGED + self.vlan.to_bytes(2, "big")
        numbered = FRAME_MARK + number.to_bytes(4, "big")
        return _octets(self.to) + _octets(self.sender.mac) + tag + numbered.ljust(ETHERNET_TYPE + MTU, b"\0")


@dataclass(frozen=True)
class Ping:
    """An unfragmented echo request of full size from a port to an address, whatever the routes of its machine say."""

    sender: Port
    to: str

    def content(self, number: int) -> bytes:
        """The ICMP message, with its number."""
        payload = (PING_MARK + number.to_bytes(4, "big")).ljust(MTU - IP_HEADER - ICMP_HEADER.size, b"\0")
        header = ICMP_HEADER.pack(ECHO_REQUEST, 0, 0, 0, 0)
        return ICMP_HEADER.pack(ECHO_REQUEST, 0, _checksum(header + payload), 0, 0) + payload


def arrivals(frames: Sequence[Frame], ports: Iterable[Port]) -> dict[Frame, set[Port]]:
    """Send these frames; at which of these ports each of them came in."""
    seen: dict[Frame, set[Port]] = {frame: set() for frame in frames}

    def read(port: Port, own: socket.socket) -> bool:
        data, origin = own.recvfrom(LONGEST)
        number = _number(data, FRAME_MARK)
        if number is None or origin[2] == socket.PACKET_OUTGOING:
            return False
        seen[frames[number]].add(port)
        return True

    with ExitStack() as stack:
        sockets = {port: stack.enter_context(_frame_socket(port)) for port in {*ports, *(f.sender for f in frames)}}
        sends = (partial(sockets[frame.sender].send, frame.content(number)) for number, frame in enumerate(frames))
        _exchange(sockets, sends, read)
    return seen


def answered(pings: Sequence[Ping]) -> set[Ping]:
    """Send these pings; those that were answered."""
    found: set[Ping] = set()

    def send(number: int, ping: Ping) -> None:
        try:
            sockets[ping.sender].sendto(ping.content(number), (ping.to, 0))
        except BlockingIOError:
            raise
        except OSError:
            # A machine that knows no way there says so at once.
            pass

    def read(port: Port, own: socket.socket) -> bool:
        data, (source, _) = own.recvfrom(LONGEST)
        number = _number(data, PING_MARK) if data[IP_HEADER] == ECHO_REPLY else None
        if number is None or (pings[number].sender, pings[number].to) != (port, source):
            return False
        found.add(pings[number])
        return True

    with ExitStack() as stack:
        sockets = {port: stack.enter_context(_ping_socket(port)) for port in {ping.sender for ping in pings}}
        _exchange(sockets, (partial(send, number, ping) for number, ping in enumerate(pings)), read)
    return found


def _exchange(
    sockets: Mapping[Port, socket.socket],
    sends: Iterable[Callable[[], object]],
    read: Callable[[Port, socket.socket], bool],
) -> None:
    """Send one after the other, then wait for the last answer; `read` says whether it was one of ours."""
    with selectors.DefaultSelector() as selector:
        for port, own in sockets.items():
            selector.register(own, selectors.EVENT_READ, partial(read, port, own))
        for send in sends:
            send()
            _read_for(PACE_SECONDS, selector)
        while _read_for(SILENCE_SECONDS, selector):
            pass


def _read_for(seconds: float, selector: selectors.BaseSelector) -> bool:
    """Read what comes within this time; whether anything was ours."""
    end, ours = time.monotonic() + seconds, False
    while (left := end - time.monotonic()) > 0:
        for key, _ in selector.select(left):
            ours |= key.data()
    return ours


def _frame_socket(port: Port) -> socket.socket:
    opened = port_socket(port, socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EVERY_PROTOCOL))
    opened.bind((port.interface, EVERY_PROTOCOL))
    return opened


def _ping_socket(port: Port) -> socket.socket:
    opened = port_socket(port, socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, port.interface.encode())
    opened.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
    return opened


def _octets(mac: str) -> bytes:
    return bytes.fromhex(mac.replace(":", ""))


def _number(data: bytes, mark: bytes) -> int | None:
    """The number of a frame or ping of ours."""
    place = data.find(mark, 0, 64)
    return None if place < 0 else int.from_bytes(data[place + len(mark) : place + len(mark) + 4], "big")


def _checksum(message: bytes) -> int:
    total: int = sum(struct.unpack(f"!{len(message) // 2}H", message))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF
