# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tools of a distribution's own drivers: dcb of iproute2, and configfs for the RDMA CM. Pure."""

from __future__ import annotations

import json
from typing import Any, Mapping

from .ofed import MODES, MODES_BY_TEXT
from .settings import Settings
from .tool_sets import (
    COMMON_SETTERS,
    Answers,
    Call,
    Command,
    Nic,
    Questions,
    Read,
    Setters,
    Write,
    call,
    common_questions,
    common_settings,
    unknown_answer,
)

RDMA_CM = "/sys/kernel/config/rdma_cm"
_OBJECTS = ("pfc", "app", "buffer")


class Inbox:
    """The tool set ``inbox``."""

    name = "inbox"

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
        mode, tos = answers.get("mode"), answers.get("tos")
        try:
            dscps = None if app is None else dict(app.get("dscp_prio", []))
            return {
                # The driver trusts the DSCP as soon as one is mapped.
                "trust": None if dscps is None else "dscp" if dscps else "pcp",
                "dscp_map": None if dscps is None else {str(dscp): dscps[dscp] for dscp in sorted(dscps)},
                "pfc": None if pfc is None else [number for number, on in enumerate(pfc["prio_pfc"]) if on],
                "buffer_sizes": None if buffers is None else list(buffers["buffer_size"]),
                "roce_mode": None if mode is None else MODES_BY_TEXT[mode.strip()],
                "roce_tos": None if tos is None else int(tos),
                **common_settings(answers),
            }
        except (KeyError, TypeError, ValueError) as error:
            raise unknown_answer(f"dcb or {RDMA_CM} for {nic.device}", repr(error)) from error

    def commands(self, nic: Nic, name: str, wanted: Any, now: Any) -> list[Command]:
        """See :class:`.tool_sets.ToolSet`."""
        return _SETTERS[name](nic, wanted, now)

    def map_after_trust(self, _trust: str) -> dict[str, int]:
        """Nothing is mapped, neither before the first entry nor after the last."""
        return {}


def _set_trust(nic: Nic, wanted: Any, _now: Any) -> list[Command]:
    # The first entry of the DSCP map makes it dscp.
    return [_app(nic, "flush")] if wanted == "pcp" else []


def _set_map(nic: Nic, wanted: Any, now: Any) -> list[Command]:
    if now is None:
        return [_app(nic, "replace", *_entries(wanted))]
    # mlx5 has one priority per DSCP and drops the old one by itself, over which `replace` stumbles.
    gone = {dscp: priority for dscp, priority in now.items() if wanted.get(dscp) != priority}
    new = {dscp: priority for dscp, priority in wanted.items() if now.get(dscp) != priority}
    return [_app(nic, verb, *_entries(some)) for verb, some in (("del", gone), ("add", new)) if some]


def _set_pfc(nic: Nic, wanted: Any, _now: Any) -> list[Command]:
    on = [f"{priority}:on" for priority in wanted]
    return [call("dcb", "pfc", "set", "dev", nic.device, "prio-pfc", "all:off", *on)]


def _set_buffers(nic: Nic, wanted: Any, _now: Any) -> list[Command]:
    return [call("dcb", "buffer", "set", "dev", nic.device, "buffer-size", *_entries(dict(enumerate(wanted))))]


def _set_mode(nic: Nic, wanted: Any, _now: Any) -> list[Command]:
    return [_open(nic), Write(_cm_file(nic, "default_roce_mode"), MODES[wanted]), _close(nic)]


def _set_tos(nic: Nic, wanted: Any, _now: Any) -> list[Command]:
    return [_open(nic), Write(_cm_file(nic, "default_roce_tos"), str(wanted)), _close(nic)]


_SETTERS: Setters = {
    **COMMON_SETTERS,
    "trust": _set_trust,
    "dscp_map": _set_map,
    "pfc": _set_pfc,
    "buffer_sizes": _set_buffers,
    "roce_mode": _set_mode,
    "roce_tos": _set_tos,
}


def _app(nic: Nic, verb: str, *entries: str) -> Call:
    return call("dcb", "app", verb, "dev", nic.device, "dscp-prio", *entries)


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
