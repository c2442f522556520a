# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A steady flow between simulated machines: numbered datagrams from a server to an IPU-Machine and back.

    python -m tests.support.packets.flow \
      '{"alice": [{"namespace": ..., "interface": ..., "mac": ..., "address": ...}, ...]}'

For each name, the first port sends to each of the others. It prints `flowing` when every stream has come back once,
runs until its standard input ends, and then prints as JSON, by name, what became of the datagrams.
"""

from __future__ import annotations

import json
import select
import selectors
import socket
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from tests.support.packets.ports import Port, port_socket

ECHO_PORT = 18515
# A port of the simulated switch keeps some 250 such frames while a busy machine does something else: those of four
# streams for more than a second. What is longer than 20 milliseconds in between is noticed all the same.
BYTES = 200
PER_SECOND = 50
# Its bound, whoever may have forgotten it.
LONGEST_SECONDS = 1800
# Streams that have not come back by then never will.
FIRST_SECONDS = 20
# What is still on its way at the end has so long to arrive.
LAST_SECONDS = 2.0
NUMBER_BYTES = 8


@dataclass
class Tally:
    """The counts of the numbered datagrams of one direction; `expected` is the next number."""

    arrived: int = 0
    duplicated: int = 0
    reordered: int = 0
    expected: int = 0
    missing: set[int] = field(default_factory=set)

    def count(self, number: int) -> None:
        """One came."""
        if number >= self.expected:
            self.missing.update(range(self.expected, number))
            self.expected = number + 1
        elif number in self.missing:
            self.missing.remove(number)
            self.reordered += 1
        else:
            self.duplicated += 1
            return
        self.arrived += 1

    def lost(self, sent: int) -> int:
        """How many of those sent never came."""
        return sent - self.arrived


class Stream:
    """Datagrams from one port to another, and each of them back."""

    def __init__(self, server: Port, machine: Port) -> None:
        self.sent = 0
        self.there, self.back = Tally(), Tally()
        self.sender, self.echo = _datagrams(server, 0), _datagrams(machine, ECHO_PORT)
        self.sender.connect((machine.address, ECHO_PORT))

    def send(self) -> None:
        """One more."""
        # Where nobody answers any more the kernel says so here; what it did not take is lost.
        with suppress(OSError):
            self.sender.send(self.sent.to_bytes(NUMBER_BYTES, "big").ljust(BYTES, b"\0"))
        self.sent += 1

    def turn_round(self) -> None:
        """One has come to the machine."""
        with suppress(OSError):
            data, origin = self.echo.recvfrom(BYTES)
            self.there.count(int.from_bytes(data[:NUMBER_BYTES], "big"))
            self.echo.sendto(data, origin)

    def come_back(self) -> None:
        """One has come back to the server."""
        with suppress(OSError):
            self.back.count(int.from_bytes(self.sender.recv(BYTES)[:NUMBER_BYTES], "big"))


@dataclass
class Report:
    """The counts of the datagrams of one name, in both directions together; `sent` counts those of the server."""

    sent: int = 0
    lost: int = 0
    duplicated: int = 0
    reordered: int = 0

    def add(self, stream: Stream) -> None:
        """One stream more."""
        self.sent += stream.sent
        # What did not come to the machine could not come back, and is lost once.
        self.lost += stream.back.lost(stream.sent)
        for direction in (stream.there, stream.back):
            self.duplicated += direction.duplicated
            self.reordered += direction.reordered


def main(argv: list[str]) -> int:
    """Let the streams flow; returns the exit code."""
    streams = {name: [Stream(server, machine) for machine in others] for name, (server, *others) in _ports(argv[0])}
    every = [stream for each in streams.values() for stream in each]
    with selectors.DefaultSelector() as selector:
        for stream in every:
            selector.register(stream.sender, selectors.EVENT_READ, stream.come_back)
            selector.register(stream.echo, selectors.EVENT_READ, stream.turn_round)
        _flow(every, selector)
        _read_until(time.monotonic() + LAST_SECONDS, selector)
    reports = {name: Report() for name in streams}
    for name, each in streams.items():
        for stream in each:
            reports[name].add(stream)
    print(json.dumps({name: asdict(report) for name, report in reports.items()}))
    return 0


def _flow(streams: list[Stream], selector: selectors.BaseSelector) -> None:
    """Send at an even pace, one stream after the other; what could not be sent in time is left out, not made up."""
    start = time.monotonic()
    step = 1 / PER_SECOND / len(streams)
    due, number, all_came = start, 0, False
    while due < start + (LONGEST_SECONDS if all_came else FIRST_SECONDS) and not _asked_to_end():
        _read_until(due, selector)
        streams[number % len(streams)].send()
        number, due = number + 1, max(due + step, time.monotonic())
        if not all_came and all(stream.back.arrived for stream in streams):
            print("flowing", flush=True)
            all_came = True


def _asked_to_end() -> bool:
    return bool(select.select([sys.stdin], [], [], 0)[0])


def _read_until(end: float, selector: selectors.BaseSelector) -> None:
    """Read what comes until then, and what is there in any case."""
    while True:
        left = end - time.monotonic()
        for key, _ in selector.select(max(left, 0)):
            key.data()
        if left <= 0:
            return


def _datagrams(port: Port, number: int) -> socket.socket:
    opened = port_socket(port, socket.AF_INET, socket.SOCK_DGRAM)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, port.interface.encode())
    opened.bind((port.address, number))
    return opened


def _ports(text: str) -> list[tuple[str, list[Port]]]:
    named: dict[str, list[dict[str, Any]]] = json.loads(text)
    return [(name, [Port(**port) for port in ports]) for name, ports in named.items()]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
