# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One IPU-Machine's V-IPU agent: answers the controller over gRPC, and Prometheus over HTTP.

Sixteen of these run at once, so this imports as little as it can.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import select
import socket
import struct
import sys
from collections.abc import Callable, Sequence
from typing import Any

from podsim.stopping import stop_requested
from podsim.vipu import interfaces, machine, metrics
from podsim.vipu.rpc import Handler, Service
from podsim.vipu.rpc_server import serve

METRICS_PORT = 2112
_SIOCGIFADDR = 0x8915
_GAUGES = {"vipu_agent_ipu_power_watts": "power", "vipu_agent_ipu_temperature_celsius": "temperature"}


def main(argv: Sequence[str] | None = None) -> int:
    """`podsim agent`: runs until SIGTERM or SIGINT. Returns the exit code."""
    options = _options(argv)
    partitions = Partitions()
    stop = stop_requested()
    try:
        server = start(options.listen, lambda: _facts(options), partitions)
        if options.metrics_port:
            metrics.serve("0.0.0.0", options.metrics_port, lambda: _samples(_facts(options), partitions.ids))
    except OSError as error:
        print(f"podsim agent: {error}", file=sys.stderr)
        return 1
    print(f"agent {options.id} listens on {options.listen}", flush=True)
    if options.announce:
        _announce(options, stop)
    os.read(stop, 1)
    server.stop(grace=0.5).wait()
    return 0


class Partitions:
    """The partitions that the machine is part of, as its controller said last. They outlive the controller."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def hold(self, request: dict[str, Any], _metadata: Any) -> dict[str, Any]:
        """Hold the partitions that the controller names; the handler of its call."""
        self.ids = list(request["partitions"])
        return {}


def start(address: str, facts: Callable[[], dict[str, Any]], partitions: Partitions | None = None) -> Any:
    """A started agent on address (host:port); `facts()` gives what it says of its machine, see machine.facts.

    Raises OSError when the address cannot be had.
    """
    held = partitions or Partitions()
    handlers: dict[str, Handler] = {
        "GetFacts": lambda _request, _metadata: {**facts(), "partitions": held.ids},
        "HoldPartitions": held.hold,
    }
    return serve(address, [Service(interfaces.AGENT, handlers)])


def interface_address(interface: str) -> str:
    """The interface's IPv4 address now; '' when it has none or does not exist."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        request = struct.pack("256s", interface.encode()[:15])
        try:
            return socket.inet_ntoa(fcntl.ioctl(probe.fileno(), _SIOCGIFADDR, request)[20:24])
        except OSError:
            return ""


def _options(argv: Sequence[str] | None) -> Any:
    parser = argparse.ArgumentParser(prog="podsim agent", description="One simulated IPU-Machine's V-IPU agent.")
    parser.add_argument("--listen", required=True, metavar="HOST:PORT", help="where the controller reaches it")
    parser.add_argument("--id", required=True, help="the machine's name")
    rnic = parser.add_mutually_exclusive_group()
    rnic.add_argument("--rnic", metavar="ADDRESS", help="the RNIC's address")
    rnic.add_argument("--rnic-interface", metavar="NAME", help="take the RNIC's address from this interface, live")
    parser.add_argument("--metrics-port", type=int, default=METRICS_PORT, help="0: no metrics (default %(default)s)")
    parser.add_argument("--release", default="1.18.0", help="V-IPU release it reports (default %(default)s)")
    parser.add_argument("--announce", metavar="HOST:PORT", help="tell a controller with auto-discovery of this agent")
    return parser.parse_args(argv)


def _facts(options: Any) -> dict[str, Any]:
    rnic = options.rnic or (interface_address(options.rnic_interface) if options.rnic_interface else "")
    return machine.facts(options.id, options.release, rnic, options.metrics_port)


def _samples(facts: dict[str, Any], partition_ids: Sequence[str]) -> list[metrics.Sample]:
    """Ours: the real metrics' names are not published. `vipu_agent_partitions` tells none from nothing said."""
    samples: list[metrics.Sample] = [
        ("vipu_agent_up", {"agent": facts["name"]}, 1.0),
        ("vipu_agent_partitions", {"agent": facts["name"]}, float(len(partition_ids))),
        *(("vipu_agent_partition", {"agent": facts["name"], "partition": name}, 1.0) for name in partition_ids),
    ]
    for name, attribute in _GAUGES.items():
        for ipu, attributes in enumerate(facts["ipus"]):
            value = float(attributes[attribute].rstrip("WC"))
            samples.append((name, {"agent": facts["name"], "ipu": str(ipu)}, value))
    return samples


def _announce(options: Any, stop: int) -> None:
    """Until stopped, says once a second in a datagram where this agent is."""
    host, _, port = options.announce.rpartition(":")
    own_port = int(options.listen.rpartition(":")[2])
    message = json.dumps({"id": options.id, "port": own_port}).encode()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        stopped: list[int] = []
        while not stopped:
            with contextlib.suppress(OSError):  # no route yet: the next one may get through
                sender.sendto(message, (host, int(port)))
            stopped, _, _ = select.select([stop], [], [], 1.0)
