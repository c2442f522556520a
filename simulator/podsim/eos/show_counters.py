# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The counters of the ports: frames, errors, pause frames, ECN marks, pause watchdog."""

from __future__ import annotations

import time
from typing import Any

from podsim.eos.cli import Cli, Command, command
from podsim.eos.interface_names import short
from podsim.eos.reply import Reply, table

FRAMES = ("Octets", "UcastPkts", "MulticastPkts", "BroadcastPkts", "Discards")
ERRORS = (
    *("fcsErrors", "alignmentErrors", "symbolErrors", "inErrors", "frameTooShorts", "frameTooLongs", "outErrors"),
)
QUEUES = range(8)


def _frames(cli: Cli, _words: list[str]) -> Reply:
    names = [f"{direction}{what}" for direction in ("in", "out") for what in FRAMES]
    counted = _counted(cli, names)
    model = {port: {**counts, "lastUpdateTimestamp": time.time()} for port, counts in counted.items()}
    text = ""
    for direction in ("in", "out"):
        headings = ["Port", *(f"{direction.title()}{what}" for what in FRAMES)]
        text += _rows(
            headings, {port: [counts[f"{direction}{what}"] for what in FRAMES] for port, counts in counted.items()}
        )
        text += "\n"
    return Reply(text, {"interfaces": model})


def _errors(cli: Cli, _words: list[str]) -> Reply:
    counted = _counted(cli, ERRORS)
    headings = ["Port", "FCS", "Align", "Symbol", "Rx", "Runts", "Giants", "Tx"]
    text = _rows(headings, {port: list(counts.values()) for port, counts in counted.items()})
    return Reply(text, {"interfaceErrorCounters": counted})


def _pause_frames(cli: Cli, _words: list[str]) -> Reply:
    counted = _counted(cli, ("rxPause", "txPause"))
    model = {port: {"rxFrames": each["rxPause"], "txFrames": each["txPause"]} for port, each in counted.items()}
    text = _rows(["Port", "RxPfc", "TxPfc"], {port: list(each.values()) for port, each in counted.items()})
    return Reply(text, {"interfaceCounters": model})


def _watchdog(cli: Cli, _words: list[str]) -> Reply:
    """A port appears with its first event."""
    model: dict[str, Any] = {}
    rows = []
    for port, counters in cli.switch.surroundings.counters().items():
        stuck, recovered = counters.get("stuck", {}), counters.get("recovered", {})
        for queue in sorted({*stuck, *recovered}):
            counts = {"stuckCount": stuck.get(queue, 0), "recoveryCount": recovered.get(queue, 0)}
            model.setdefault(port, {"txQueues": {}})["txQueues"][queue] = counts
            rows.append([short(port), f"UC{queue}", *map(str, counts.values())])
    text = table(["Port", "TxQ", "Total times stuck", "Total times recovered"], rows)
    return Reply(text, {"interfaces": model})


def _ecn(cli: Cli, _words: list[str]) -> Reply:
    """Marked packets per queue; `-` where they are not counted."""
    counters = cli.switch.surroundings.counters()
    model: dict[str, Any] = {}
    rows = []
    for port in _data_ports(cli):
        marks = counters.get(port, {}).get("ecn", {})
        counting = {str(queue) for queue in QUEUES if _counts_marks(cli, port, queue)}
        queues = {str(queue): str(marks.get(str(queue), 0)) if str(queue) in counting else "-" for queue in QUEUES}
        model[port] = {"queueCounters": queues}
        rows += [[short(port), queue, count] for queue, count in queues.items()]
    return Reply(table(["Port", "Queue", "Marked packets"], rows), {"intfQueueCounters": model})


def _counts_marks(cli: Cli, port: str, queue: int) -> bool:
    """`random-detect ecn count` stands in the port's own queue or in that of its service profile."""
    running = cli.switch.running
    block = running.children["interface", port]
    profile = running.children.get(("qos", "profile", block.value("service-profile") or ""))
    queues = [
        holder.children.get((kind, str(queue)))
        for holder in (block, profile)
        if holder is not None
        for kind in ("uc-tx-queue", "tx-queue")
    ]
    return any(each.has("random-detect ecn count") for each in queues if each)


def _data_ports(cli: Cli) -> list[str]:
    return [port for port in cli.switch.hardware.ports if port.startswith("Ethernet")]


def _counted(cli: Cli, names: list[str] | tuple[str, ...]) -> dict[str, dict[str, int]]:
    counters = cli.switch.surroundings.counters()
    return {port: {name: counters.get(port, {}).get(name, 0) for name in names} for port in _data_ports(cli)}


def _rows(headings: list[str], counts: dict[str, list[int]]) -> str:
    return table(headings, [[short(port), *map(str, values)] for port, values in counts.items()])


COMMANDS: tuple[Command, ...] = (
    command("show interfaces counters", _frames),
    command("show interfaces counters errors", _errors),
    command("show priority-flow-control counters", _pause_frames),
    command("show priority-flow-control counters watchdog", _watchdog),
    command("show qos interfaces ecn counters queue", _ecn),
)
