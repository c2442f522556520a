# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""dcb of iproute2, the objects pfc, app and buffer. Whatever else is asked goes to the real program."""

from __future__ import annotations

import json

from podsim.nic.hardware import BUFFER_MEMORY, DSCPS, PRIORITIES, Nics, Port, Refusal
from podsim.nic.reply import Reply, on_stderr

SELECTOR = "dscp-prio"
VERBS = {"pfc": {"show", "set"}, "app": {"show", "flush", "add", "del", "replace"}, "buffer": {"show", "set"}}


def run(nics: Nics, arguments: list[str]) -> Reply | None:
    """Run the tool; None where the real program has to answer."""
    flags = [word for word in arguments if word.startswith("-")]
    kind, verb, dev, device, *rest = [*arguments[len(flags) :], "", "", "", ""]
    port = nics.ports.get(device)
    if "-V" in flags or kind not in VERBS or dev != "dev" or port is None:
        return None
    if verb not in VERBS[kind] or arguments[: len(flags)] != flags:
        raise on_stderr(f'Command "{verb}" is unknown, try "dcb {kind} help".')
    words = [word for word in rest if word]
    if verb == "show":
        return _show(port, kind, words, "-j" in flags)
    try:
        _change(port, kind, verb, words)
    except Refusal as refusal:
        raise on_stderr(f"Attribute write: {refusal}") from None
    return Reply()


def _show(port: Port, kind: str, rest: list[str], as_json: bool) -> Reply:
    if rest or not as_json:
        raise on_stderr("The simulated NIC shows everything or nothing, and only with -j.")
    shown: dict[str, object] = {}
    if kind == "pfc":
        on = [priority in port.pfc for priority in PRIORITIES]
        shown = {"pfc_cap": 8, "macsec_bypass": False, "delay": 7, "prio_pfc": on}
    elif kind == "buffer":
        shown = {"prio_buffer": [0] * 8, "buffer_size": port.buffer_sizes, "total_size": BUFFER_MEMORY}
    elif port.applications:
        shown = {"dscp_prio": [list(entry) for entry in sorted(port.applications.items())]}
    return Reply(output=json.dumps(shown) + "\n")


def _change(port: Port, kind: str, verb: str, rest: list[str]) -> None:
    if kind == "pfc":
        _set_pfc(port, _mapping(rest, "prio-pfc"))
    elif kind == "buffer":
        sizes = list(port.buffer_sizes)
        for number, size in _mapping(rest, "buffer-size"):
            sizes[_number(number, PRIORITIES, "buffer")] = _number(size, range(2**32), "size")
        port.set_buffers(sizes)
    elif verb == "flush":
        if rest != [SELECTOR]:
            raise on_stderr(f'What is "{" ".join(rest)}"?')
        port.trust_pcp()
    else:
        _change_map(port, verb, _mapping(rest, SELECTOR))


def _set_pfc(port: Port, mapping: list[tuple[str, str]]) -> None:
    on = set(port.pfc)
    for key, state in mapping:
        if state not in {"on", "off"}:
            raise on_stderr(f'Bad "PFC" value: {state}')
        priorities = set(PRIORITIES) if key == "all" else {_number(key, PRIORITIES, "PRIO")}
        on = on | priorities if state == "on" else on - priorities
    port.pfc = sorted(on)


def _change_map(port: Port, verb: str, mapping: list[tuple[str, str]]) -> None:
    entries = [(_number(dscp, DSCPS, "DSCP"), _number(prio, PRIORITIES, "PRIO")) for dscp, prio in mapping]
    before = dict(port.applications)
    for dscp, priority in entries:
        if verb == "del":
            port.unmap_dscp(dscp, priority)
        elif verb == "add" or before.get(dscp) != priority:
            port.map_dscp(dscp, priority)
    if verb == "replace":
        # It takes away what it saw before; the driver has dropped that already.
        for dscp, priority in entries:
            if before.get(dscp, priority) != priority:
                port.unmap_dscp(dscp, before[dscp])


def _mapping(words: list[str], keyword: str) -> list[tuple[str, str]]:
    if len(words) < 2 or words[0] != keyword:
        raise on_stderr(f'What is "{" ".join(words)}"?')
    pairs = []
    for word in words[1:]:
        key, colon, value = word.partition(":")
        if not colon or not value:
            raise on_stderr(f"Bad mapping: {word}")
        pairs.append((key, value))
    return pairs


def _number(text: str, allowed: range, what: str) -> int:
    if not text.isdigit() or int(text) not in allowed:
        raise on_stderr(f'Value "{text}" is out of range for {what}')
    return int(text)
