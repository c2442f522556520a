# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The quality of service that is in effect: priority flow control, maps, profiles.

Their JSON forms are published nowhere, so they have only the text form here.
"""

from __future__ import annotations

from podsim.eos.cli import Cli, Command, command
from podsim.eos.config import Node
from podsim.eos.errors import EosError
from podsim.eos.rendering import render_block
from podsim.eos.reply import Reply, table
from podsim.eos.syntax_qos import default_traffic_class


def _priority_flow_control(cli: Cli, _words: list[str]) -> Reply:
    rows = []
    linked = cli.switch.surroundings.linked()
    for port in cli.switch.hardware.ports:
        if port.startswith("Ethernet"):
            settings = _settings(cli.switch.running, port)
            enabled = "priority-flow-control on" in settings
            lossless = [line.split()[2] for line in settings if line.endswith(" no-drop") and " priority " in line]
            active = enabled and port in linked and not cli.switch.running.has("priority-flow-control all off")
            note = "" if any(line.startswith("dcbx mode") for line in settings) else "DCBX disabled"
            rows.append([port, _yes(enabled), " ".join(lossless), _yes(active), note])
    return Reply(table(["Port", "Enabled", "Priorities", "Active", "Note"], rows), None)


def _settings(running: Node, port: str) -> list[str]:
    """The lines that hold for a port: its own and those of its service profile."""
    block = running.children["interface", port]
    profile = running.children.get(("qos", "profile", block.value("service-profile") or ""))
    return [line.line for holder in (profile, block) if holder for line in holder.ordered_children()]


def _maps(cli: Cli, _words: list[str]) -> Reply:
    running = cli.switch.running
    dscp = {
        code: _mapped(running, f"qos map dscp {code} to traffic-class", default_traffic_class(code))
        for code in range(64)
    }
    queues = {each: _mapped(running, f"qos map traffic-class {each} to tx-queue", each) for each in range(8)}
    lines = [
        "   Dscp-tc map:\n     d1 :  d2 0  1  2  3  4  5  6  7  8  9\n     --------------------------------------\n"
    ]
    for tens in range(7):
        row = "  ".join(str(dscp[code]) for code in range(tens * 10, min(tens * 10 + 10, 64)))
        lines.append(f"      {tens} :     {row}\n")
    lines.append("\n   Tc - tx-queue map:\n")
    lines.append("     tc:        " + "  ".join(map(str, queues)) + "\n")
    lines.append("     tx-queue:  " + "  ".join(str(queue) for queue in queues.values()) + "\n")
    return Reply("".join(lines), None)


def _mapped(running: Node, line: str, default: int) -> int:
    return int(running.value(line) or default)


def _profile(cli: Cli, words: list[str]) -> Reply:
    profiles = {block.line.split()[2]: block for block in cli.switch.running.blocks("qos profile")}
    if words[-1] == "summary":
        using = {
            name: [
                block.line.split()[1]
                for block in cli.switch.running.blocks("interface")
                if block.value("service-profile") == name
            ]
            for name in profiles
        }
        return Reply(
            "".join(f"Qos Profile: {name}\n   Attached to: {', '.join(on)}\n" for name, on in using.items()), None
        )
    if len(words) > 3 and words[3] not in profiles:
        raise EosError(f"QoS profile {words[3]} does not exist")
    shown = [profiles[words[3]]] if len(words) > 3 else list(profiles.values())
    return Reply("".join(f"{line}\n" for block in shown for line in render_block(block, cli.switch.release)), None)


def _yes(holds: bool) -> str:
    return "Yes" if holds else "No"


COMMANDS: tuple[Command, ...] = (
    command("show priority-flow-control", _priority_flow_control),
    command("show priority-flow-control status", _priority_flow_control),
    command("show qos maps", _maps),
    command("show qos profile", _profile),
    command("show qos profile summary", _profile),
    command("show qos profile <word>", _profile),
)
