# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tools of MLNX_OFED and DOCA: mlnx_qos, cma_roce_mode, cma_roce_tos. Pure."""

from __future__ import annotations

import re
from typing import Any

from .._plan.converge import Refused
from .settings import DSCPS, PRIORITIES, Settings
from .tool_sets import (
    COMMON_SETTERS,
    Answers,
    Command,
    Nic,
    Questions,
    Setters,
    ToolSet,
    call,
    common_questions,
    common_settings,
    unknown_answer,
)

_TRUST = re.compile(r"^Priority trust state: (\S+)$", re.MULTILINE)
_MAP = re.compile(r"^\s*prio:(\d) dscp:([\d,]+)$", re.MULTILINE)
_ENABLED = re.compile(r"^\s*enabled((?:\s+[01]){8})\s*$", re.MULTILINE)
_BUFFERS = re.compile(r"^Receive buffer size \(bytes\): ((?:\d+,){8})", re.MULTILINE)
_FIRMWARE = "DCBX mode: Firmware controlled"


def _set_map(nic: Nic, wanted: Any, now: Any) -> list[Command]:
    old = now or {}
    gone = [f"del,{dscp},{old[dscp]}" for dscp in old if dscp not in wanted]
    new = [f"set,{dscp},{priority}" for dscp, priority in wanted.items() if old.get(dscp) != priority]
    # Older releases take the option once only.
    return [_mlnx_qos(nic, "--dscp2prio", change) for change in (*gone, *new)]


def _bits(priorities: Any) -> str:
    return ",".join(str(int(priority in priorities)) for priority in PRIORITIES)


_SETTERS: Setters = {
    **COMMON_SETTERS,
    "trust": lambda nic, wanted, _now: [_mlnx_qos(nic, "--trust", wanted)],
    "dscp_map": _set_map,
    "pfc": lambda nic, wanted, _now: [_mlnx_qos(nic, "--pfc", _bits(wanted))],
    "buffer_sizes": lambda nic, wanted, _now: [_mlnx_qos(nic, "--buffer_size", ",".join(map(str, wanted)))],
    "roce_mode": lambda nic, wanted, _now: [call("cma_roce_mode", *_port(nic), "-m", wanted[1:])],
    "roce_tos": lambda nic, wanted, _now: [call("cma_roce_tos", *_port(nic), "-t", str(wanted))],
}


class Ofed(ToolSet):
    """The tool set ``ofed``."""

    name = "ofed"
    setters = _SETTERS

    def questions(self, nic: Nic) -> Questions:
        """See :class:`.tool_sets.ToolSet`."""
        questions: Questions = {"qos": call("mlnx_qos", "-i", nic.device)}
        if nic.rdma_device:
            questions["mode"] = call("cma_roce_mode", *_port(nic))
            questions["tos"] = call("cma_roce_tos", *_port(nic))
        return {**questions, **common_questions(nic)}

    def settings(self, nic: Nic, answers: Answers) -> Settings:
        """See :class:`.tool_sets.ToolSet`."""
        try:
            return {**_qos(nic, answers["qos"]), **common_settings(answers)}
        except (KeyError, ValueError) as error:
            raise unknown_answer(f"cma_roce_mode, cma_roce_tos -d {nic.rdma_device}", error) from error

    def map_after_trust(self, trust: str) -> dict[str, int]:
        """All 64 code points, eight to a priority, as mlnx_qos sets them up."""
        return {str(dscp): dscp // 8 for dscp in DSCPS} if trust == "dscp" else {}


def _mlnx_qos(nic: Nic, *options: str) -> Command:
    return call("mlnx_qos", "-i", nic.device, *options)


def _port(nic: Nic) -> tuple[str, ...]:
    return ("-d", str(nic.rdma_device), "-p", str(nic.rdma_port))


def _qos(nic: Nic, answer: str | None) -> Settings:
    if answer is None:
        return dict.fromkeys(("trust", "dscp_map", "pfc", "buffer_sizes"))
    trust, enabled, buffers = _TRUST.search(answer), _ENABLED.search(answer), _BUFFERS.search(answer)
    if not trust or not enabled:
        raise unknown_answer(f"mlnx_qos -i {nic.device}", "no trust state or no PFC configuration in it")
    if _FIRMWARE in answer:
        raise Refused(
            f"interface {nic.device}: its firmware decides on PFC by DCBX and would overrule what is declared; "
            f"let the server decide with `mlnx_qos -i {nic.device} --dcbx os`"
        )
    dscps = {int(dscp): int(p) for p, row in _MAP.findall(answer) for dscp in row.split(",") if dscp}
    return {
        "trust": None if trust.group(1) == "none" else trust.group(1),
        "dscp_map": {str(dscp): dscps[dscp] for dscp in sorted(dscps)},
        "pfc": [priority for priority, on in enumerate(enabled.group(1).split()) if on == "1"],
        "buffer_sizes": [int(size) for size in buffers.group(1).split(",") if size] if buffers else None,
    }
