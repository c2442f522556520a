# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tools of a distribution's own drivers: dcb of iproute2, and configfs for the RDMA CM. Pure."""

from __future__ import annotations

import json
from typing import Any, Mapping

from .settings import Settings
from .tool_sets import (
    COMMON_SETTERS,
    MODES,
    Answers,
    Call,
    Command,
    Nic,
    Questions,
    Read,
    Setters,
    ToolSet,
    Write,
    call,
    common_questions,
    common_settings,
    unknown_answer,
)

RDMA_CM = "/sys/kernel/config/rdma_cm"
_OBJECTS = ("pfc", "app", "buffer")


def _set_map(nic: Nic, wanted: Any, now: Any) -> list[Command]:
    if now is None:
        return [_app(nic, "replace", *_entries(wanted))]
    # mlx5 has one priority per DSCP and drops the old one by itself, over which `replace` stumbles.
    gone = {dscp: priority for dscp, priority in now.items() if wanted.get(dscp) != priority}
    new = {dscp: priority for dscp, priority in wanted.items() if now.get(dscp) != priority}
    return [_app(nic, verb, *_entries(some)) for verb, some in (("del", gone), ("add", new)) if some]


def _set_default(nic: Nic, name: str, text: str) -> list[Command]:
    return [_open(nic), Write(_cm_file(nic, name), text), _close(nic)]


_SETTERS: Setters = {
    **COMMON_SETTERS,
    # The first entry of the DSCP map makes it dscp.
    "trust": lambda nic, wanted, _now: [_app(nic, "flush")] if wanted == "pcp" else [],
    "dscp_map": _set_map,
    "pfc": lambda nic, wanted, _now: [_dcb(nic, "pfc", "prio-pfc", "all:off", *(f"{each}:on" for each in wanted))],
    "buffer_sizes": lambda nic, wanted, _now: [_dcb(nic, "buffer", "buffer-size", *_entries(dict(enumerate(wanted))))],
    "roce_mode": lambda nic, wanted, _now: _set_default(nic, "default_roce_mode", MODES[wanted]),
    "roce_tos": lambda nic, wanted, _now: _set_default(nic, "default_roce_tos", str(wanted)),
}


class Inbox(ToolSet):
    """The tool set ``inbox``."""

    name = "inbox"
    setters = _SETTERS

    def questions(self, nic: Nic) -> Questions:
        """See :class:`.tool_sets.ToolSet`."""
        questions: Questions = {kind: call("dcb", "-j", kind, "show", "dev", nic.device) for kind in _OBJECTS}
        if nic.rdma_device:
            questions["mkdir"] = _open(nic)
            questions["mode"] = Read(_cm_file(nic, "default_roce_mode"))
            questions["tos"] = Read(_cm_file(nic, "default_roce_tos"))
            questions["rmdir"] = _close(nic)
        return {**questions, **common_questions(nic)}

    def settings(self, nic: Nic, answers: Answers) -> Settings:
        """See :class:`.tool_sets.ToolSet`."""
        pfc, app, buffers = (_object(kind, nic, answers[kind]) for kind in _OBJECTS)
        try:
            dscps = None if app is None else dict(app.get("dscp_prio", []))
            return {
                # The driver trusts the DSCP as soon as one is mapped.
                "trust": None if dscps is None else "dscp" if dscps else "pcp",
                "dscp_map": None if dscps is None else {str(dscp): dscps[dscp] for dscp in sorted(dscps)},
                "pfc": None if pfc is None else [number for number, on in enumerate(pfc["prio_pfc"]) if on],
                "buffer_sizes": None if buffers is None else list(buffers["buffer_size"]),
                **common_settings(answers),
            }
        except (KeyError, TypeError, ValueError) as error:
            raise unknown_answer(f"dcb or {RDMA_CM} for {nic.device}", repr(error)) from error

    def map_after_trust(self, _trust: str) -> dict[str, int]:
        """Nothing is mapped, neither before the first entry nor after the last."""
        return {}


def _app(nic: Nic, verb: str, *entries: str) -> Call:
    return call("dcb", "app", verb, "dev", nic.device, "dscp-prio", *entries)


def _dcb(nic: Nic, kind: str, *words: str) -> Call:
    return call("dcb", kind, "set", "dev", nic.device, *words)


def _entries(mapping: Mapping[Any, int]) -> list[str]:
    return [f"{key}:{value}" for key, value in mapping.items()]


def _open(nic: Nic) -> Call:
    """The kernel shows a device's defaults in a directory that somebody has to make; they outlive it."""
    return call("mkdir", "-p", f"{RDMA_CM}/{nic.rdma_device}")


def _close(nic: Nic) -> Call:
    return call("rmdir", f"{RDMA_CM}/{nic.rdma_device}")


def _cm_file(nic: Nic, name: str) -> str:
    return f"{RDMA_CM}/{nic.rdma_device}/ports/{nic.rdma_port}/{name}"


def _object(kind: str, nic: Nic, answer: str | None) -> dict[str, Any] | None:
    if answer is None:
        return None
    try:
        found = json.loads(answer)
    except ValueError as error:
        raise unknown_answer(f"dcb -j {kind} show dev {nic.device}", error) from error
    if not isinstance(found, dict):
        raise unknown_answer(f"dcb -j {kind} show dev {nic.device}", "no object")
    return found
