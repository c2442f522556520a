# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""mlnx_qos of MLNX_OFED: option `-i` with at most the settings below; prints the whole configuration every time."""

from __future__ import annotations

from podsim.nic.hardware import BUFFER_MEMORY, DSCPS, PRIORITIES, Nics, Port, Refusal
from podsim.nic.reply import Reply, on_stderr, on_stdout

USAGE = "Usage: mlnx_qos -i <interface> [options]\n"
OPTIONS = {
    "-i": "interface",
    "--interface": "interface",
    "-f": "pfc",
    "--pfc": "pfc",
    "--trust": "trust",
    "--dscp2prio": "dscp2prio",
    "--buffer_size": "buffer_size",
}


def run(nics: Nics, arguments: list[str]) -> Reply | None:
    """Run the tool; None on a machine without simulated NICs."""
    if not nics.ports:
        return None
    if arguments == ["--version"]:
        return Reply(output="mlnx_qos 1.2\n")
    options = _options(arguments)
    if "interface" not in options:
        raise on_stdout(f"Interface name is required\n{USAGE}")
    port = nics.ports.get(options["interface"])
    if port is None:
        raise on_stderr("OSError: [Errno 19] No such device")
    if "trust" in options and "dscp2prio" in options:
        raise on_stdout("trust and dscp2prio commands cannot be used at the same time.")
    _apply(port, options)
    return Reply(output=_configuration(port))


def _options(arguments: list[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    words = [part for word in arguments for part in (word.split("=", 1) if word.startswith("--") else [word])]
    for flag, value in zip(words[::2], [*words[1::2], None], strict=False):
        if flag not in OPTIONS or value is None:
            raise on_stderr(f"{USAGE}\nmlnx_qos: error: no such option: {flag}", 2)
        options[OPTIONS[flag]] = value
    return options


def _apply(port: Port, options: dict[str, str]) -> None:
    if "pfc" in options:
        port.pfc = _pfc(options["pfc"])
    if "dscp2prio" in options:
        _map(port, options["dscp2prio"])
    if "trust" in options:
        _trust(port, options["trust"])
    if "buffer_size" in options:
        try:
            sizes = [int(size) for size in options["buffer_size"].split(",")]
            # Buffers that are not named keep their size.
            port.set_buffers([*sizes, *port.buffer_sizes[len(sizes) :]])
        except (ValueError, Refusal):
            raise on_stdout("Buffers commands error") from None


def _pfc(text: str) -> list[int]:
    words = text.split(",")
    if len(words) != len(PRIORITIES):
        raise on_stdout("Too many items for PFC" if len(words) > len(PRIORITIES) else "pfc list must have 8 items")
    if not set(words) <= {"0", "1"}:
        raise on_stdout(f"Bad value for PFC: {text}\n{USAGE}")
    return [priority for priority in PRIORITIES if words[priority] == "1"]


def _map(port: Port, text: str) -> None:
    try:
        action, dscp_text, priority_text = text.split(",")
        dscp, priority = int(dscp_text), int(priority_text)
    except ValueError:
        raise on_stdout("Invalid dscp2prio command. Refer to the help.") from None
    if action not in {"set", "del"} or dscp not in DSCPS or priority not in PRIORITIES:
        raise on_stdout("Invalid dscp2prio command. Refer to the help.")
    try:
        (port.map_dscp if action == "set" else port.unmap_dscp)(dscp, priority)
    except Refusal:
        raise on_stdout("dscp2prio command failed") from None


def _trust(port: Port, state: str) -> None:
    if state not in {"dscp", "pcp"}:
        raise on_stdout("Invalid trust state command. Refer to the help.")
    if state == port.trust:
        return
    if state == "pcp":
        port.trust_pcp()
        return
    for dscp in DSCPS:
        port.map_dscp(dscp, dscp // len(PRIORITIES))


def _configuration(port: Port) -> str:
    lines = ["DCBX mode: OS controlled", f"Priority trust state: {port.trust}"]
    if port.trust == "dscp":
        lines.append("dscp2prio mapping:")
        for priority in PRIORITIES:
            dscps = sorted((dscp for dscp, mapped in port.applications.items() if mapped == priority), reverse=True)
            rows = [dscps[start : start + 8] for start in range(0, len(dscps), 8)]
            lines += [f"\tprio:{priority} dscp:{''.join(f'{dscp:02d},' for dscp in row)}" for row in rows]
    sizes = "".join(f"{size}," for size in port.buffer_sizes)
    enabled = "".join(f"{int(priority in port.pfc)}   " for priority in PRIORITIES)
    lines += [
        "default priority:",
        f"Receive buffer size (bytes): {sizes}total_size={BUFFER_MEMORY}",
        "Cable len: 7",
        "PFC configuration:",
        "\tpriority    0   1   2   3   4   5   6   7",
        f"\tenabled     {enabled}",
        f"\tbuffer      {'0   ' * 8}",
    ]
    for traffic_class in PRIORITIES:
        lines += [f"tc: {traffic_class} ratelimit: unlimited, tsa: vendor", f"\t priority:  {traffic_class}"]
    return "".join(f"{line}\n" for line in lines)
