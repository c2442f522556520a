# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The common part of both tool sets: the NIC, queries, pause frames, rings, sysfs.

Pure: questions and commands are data, which can be run now or written down as a shell line, and answers are text.
:mod:`client` asks and runs.
"""

from __future__ import annotations

import re
import shlex
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Union

from .._plan.converge import DeviceError
from .settings import NO_TRAFFIC_CLASS, PRIORITIES, Settings

# By what an answer is of. None: the driver or the tools do not have that.
Answers = Mapping[str, Optional[str]]

MODES = {"v1": "IB/RoCE v1", "v2": "RoCE v2"}
_MODES_BY_TEXT = {text: mode for mode, text in MODES.items()}
_TRAFFIC_CLASS = re.compile(r"^Global tclass=(\d+)", re.MULTILINE)
# What ethtool exits with where nothing changes, before it asked the kernel by netlink.
_NO_PAUSE_CHANGED, _NO_RING_CHANGED = 78, 80


@dataclass(frozen=True)
class Nic:
    """A network device, and the RDMA device on it where there is one."""

    device: str
    rdma_device: str | None = None
    rdma_port: int = 1


@dataclass(frozen=True)
class Call:
    """Run a program; with the exit status ``already`` older versions say that nothing had to be changed."""

    argv: tuple[str, ...]
    already: int = 0


@dataclass(frozen=True)
class Write:
    """Write one line into a file of sysfs or configfs."""

    path: str
    text: str


Command = Union[Call, Write]


def call(*argv: str, already: int = 0) -> Call:
    """The call of a program."""
    return Call(argv, already)


def shell_line(command: Command) -> str:
    """The command as a person would type it."""
    if isinstance(command, Write):
        return f"echo {shlex.quote(command.text)} > {shlex.quote(command.path)}"
    line = " ".join(shlex.quote(word) for word in command.argv)
    return f"{line} || [ $? -eq {command.already} ] # nothing to change" if command.already else line


@dataclass(frozen=True)
class Read:
    """The content of a file of sysfs or configfs."""

    path: str


Questions = Dict[str, Union[Call, Read]]
# By setting: of the NIC, the wanted value, and the value now, which is None where that is not known.
Setters = Mapping[str, Callable[[Nic, Any, Any], List[Command]]]


class ToolSet(ABC):
    """The tools of one kind of driver installation."""

    name: str
    setters: Setters

    @abstractmethod
    def questions(self, nic: Nic) -> Questions:
        """Return the ordered queries that read all settings of a NIC."""

    @abstractmethod
    def settings(self, nic: Nic, answers: Answers) -> Settings:
        """All settings of a NIC, from the answers."""

    def commands(self, nic: Nic, name: str, wanted: Any, now: Any) -> list[Command]:
        """Return the commands for one setting; ``now`` is None if unknown, as at boot."""
        return self.setters[name](nic, wanted, now)

    @abstractmethod
    def map_after_trust(self, trust: str) -> dict[str, int]:
        """The DSCP map as a change of the trust state leaves it."""


def common_questions(nic: Nic) -> Questions:
    """Return the queries of both tool sets."""
    questions: Questions = {"pause": call("ethtool", "-a", nic.device), "rings": call("ethtool", "-g", nic.device)}
    for point in ("np", "rp"):
        questions.update({f"ecn {point} {priority}": Read(_ecn(nic, point, priority)) for priority in PRIORITIES})
    if nic.rdma_device:
        questions["traffic_class"] = Read(_traffic_class(nic))
    return questions


def common_settings(answers: Answers) -> Settings:
    """Return the settings that both tool sets read in the same way; KeyError or ValueError for an unknown one."""
    mode, tos = answers.get("mode"), answers.get("tos")
    return {
        "roce_mode": None if mode is None else _MODES_BY_TEXT[mode.strip()],
        "roce_tos": None if tos is None else int(tos),
        "pause": _pause(answers["pause"]),
        "rings": _rings(answers["rings"]),
        "ecn": _ecn_settings(answers),
        "traffic_class": _traffic_class_setting(answers.get("traffic_class")),
    }


def unknown_answer(program: str, error: object) -> DeviceError:
    """The error for an answer that is not in the form that is known."""
    return DeviceError(f"{program}: unknown answer: {error}")


def _set_pause(nic: Nic, wanted: Any, _now: Any) -> list[Command]:
    words = [word for way in sorted(wanted) for word in (way, "on" if wanted[way] else "off")]
    return [call("ethtool", "-A", nic.device, *words, already=_NO_PAUSE_CHANGED)]


def _set_rings(nic: Nic, wanted: Any, _now: Any) -> list[Command]:
    words = [word for way in sorted(wanted) for word in (way, str(wanted[way]))]
    return [call("ethtool", "-G", nic.device, *words, already=_NO_RING_CHANGED)]


def _set_ecn(nic: Nic, wanted: Any, now: Any) -> list[Command]:
    return [
        Write(_ecn(nic, point, priority), str(int(priority in priorities)))
        for point, priorities in sorted(wanted.items())
        for priority in PRIORITIES
        if now is None or (priority in priorities) != (priority in now[point])
    ]


def _set_traffic_class(nic: Nic, wanted: Any, _now: Any) -> list[Command]:
    # The kernel wants the old value taken away before it takes another one.
    none = Write(_traffic_class(nic), f"tclass={NO_TRAFFIC_CLASS}")
    return [none] if wanted == NO_TRAFFIC_CLASS else [none, Write(_traffic_class(nic), str(wanted))]


COMMON_SETTERS: Setters = {
    "pause": _set_pause,
    "rings": _set_rings,
    "ecn": _set_ecn,
    "traffic_class": _set_traffic_class,
}


def _ecn(nic: Nic, point: str, priority: int) -> str:
    return f"/sys/class/net/{nic.device}/ecn/roce_{point}/enable/{priority}"


def _traffic_class(nic: Nic) -> str:
    return f"/sys/class/infiniband/{nic.rdma_device}/tc/{nic.rdma_port}/traffic_class"


def _pause(answer: str | None) -> dict[str, bool] | None:
    if answer is None:
        return None
    values = dict(re.findall(r"^(RX|TX):\s+(on|off)$", answer, re.MULTILINE))
    try:
        return {way: values[way.upper()] == "on" for way in ("rx", "tx")}
    except KeyError as error:
        raise unknown_answer("ethtool -a", f"no line {error}") from None


def _rings(answer: str | None) -> dict[str, int] | None:
    if answer is None:
        return None
    current = answer.partition("Current hardware settings:")[2]
    values = dict(re.findall(r"^(RX|TX):\s+(\d+)$", current, re.MULTILINE))
    try:
        return {way: int(values[way.upper()]) for way in ("rx", "tx")}
    except KeyError as error:
        raise unknown_answer("ethtool -g", f"no current setting {error}") from None


def _ecn_settings(answers: Answers) -> dict[str, list[int]] | None:
    if answers["ecn np 0"] is None:
        return None
    return {
        point: [p for p in PRIORITIES if (answers[f"ecn {point} {p}"] or "").strip() == "1"] for point in ("np", "rp")
    }


def _traffic_class_setting(answer: str | None) -> int | None:
    if answer is None:
        return None
    match = _TRAFFIC_CLASS.search(answer)
    return int(match.group(1)) if match else NO_TRAFFIC_CLASS
