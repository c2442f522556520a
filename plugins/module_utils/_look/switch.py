# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One look at an EOS switch: everything that any layer compares, in as few requests as the switch answers."""

from __future__ import annotations

import re
import socket
import time
from functools import lru_cache
from typing import Callable, Dict, Sequence

from .._plan.converge import DeviceError
from .._tor.connection import sender
from .._tor.gathered import gathered
from .._tor.observed import ALWAYS, COUNTERS, observed
from .._tor.running_config import RunningConfig, parse
from .._tor.secrets import without_secrets
from .._tor.session import (
    SESSIONS,
    VERSION,
    CommandRefused,
    Configs,
    Send,
    ask,
    pending_sessions,
    read_configs,
    release_of,
    seconds_left,
)
from .._tor.status import STATUS, status
from .._tor.surroundings import left_over_of
from .._tor.unsaved import startup_of
from .parts import Part, answer_of, line_of, plain

Ask = Callable[[Sequence[str], Sequence[str]], Dict[str, str]]
"""The JSON answers to commands that every switch knows, and to some that a switch may refuse."""

AROUND = (SESSIONS, VERSION)
# These lines carry names and texts that people chose, and no secret.
_NAMED = re.compile(r"\s*(?:vlan|name|description|interface|qos profile|service-profile) ")


def look_at_switch(socket_path: str | None) -> dict[str, Part]:
    """The parts of a look over the connection behind a socket of Ansible's.

    Raises:
        Refused: it is no connection to a switch.
        DeviceError: there is no way to the switch.
    """
    return look_at(sender(socket_path), socket.gethostname(), time.time)


def look_at(send: Send, host: str, now: Callable[[], float]) -> dict[str, Part]:
    """The parts of a look, each its data or only a ``message``; ``host`` is as in the names of our sessions.

    Raises:
        DeviceError: there is no way to the switch.
    """
    config, saved = _configs(send)
    answers = _together(send)

    @lru_cache
    def around() -> dict[str, str]:
        return answers(AROUND, ())

    def info() -> Part:
        return {**gathered(_parsed(config)), **vars(observed(answers(ALWAYS, COUNTERS)))}

    return {
        "running_config": config,
        "startup_config": saved,
        "gathered": answer_of(lambda: gathered(_parsed(config))),
        "info": answer_of(info),
        "status": answer_of(lambda: plain(status(answers(STATUS, ())))),
        "sessions": answer_of(lambda: _sessions(around(), host, now())),
        "release": answer_of(lambda: {"eos": release_of(around()[VERSION])}),
    }


def _configs(send: Send) -> tuple[Part, Part]:
    """The running-config and the startup-config without secrets, which nobody compares but with each other."""
    try:
        configs = read_configs(send)
    except CommandRefused as error:
        silent = {"message": line_of(error)}
        return silent, silent
    return answer_of(lambda: _running_config(configs)), answer_of(lambda: _startup_config(configs))


def _running_config(configs: Configs) -> Part:
    text = "\n".join(map(_without_secret, configs.running.split("\n")))
    parse(text)
    return {"text": text}


def _startup_config(configs: Configs) -> Part:
    """Its text and VLANs; a secret that is another one than in the running-config is still another line."""
    if configs.startup is None:
        return {"message": configs.unread}
    running = set(configs.running.split("\n"))
    lines = [(line, _without_secret(line)) for line in configs.startup.split("\n")]
    text = "\n".join(told if told == line or line in running else f"{told} (another)" for line, told in lines)
    return {"text": text, "vlans": gathered(startup_of(text))["vlans"]}


def _without_secret(line: str) -> str:
    return line if _NAMED.match(line) else without_secrets(line)


def _parsed(config: Part) -> RunningConfig:
    if "text" not in config:
        raise DeviceError(config["message"])
    return parse(config["text"])


def _together(send: Send) -> Ask:
    """Asks for everything at once; what is refused then is asked for part by part."""
    try:
        answers = ask(send, list(dict.fromkeys([*AROUND, *ALWAYS, *STATUS])), COUNTERS)
    except CommandRefused:
        return lambda needed, wished: ask(send, needed, wished)
    except DeviceError as error:
        return _silent(error)
    return lambda needed, wished: {name: answers[name] for name in (*needed, *wished) if name in answers}


def _silent(error: DeviceError) -> Ask:
    """There is no use in asking again a switch that did not answer."""

    def fail(_needed: Sequence[str], _wished: Sequence[str]) -> dict[str, str]:
        raise error

    return fail


def _sessions(answers: dict[str, str], host: str, now: float) -> Part:
    states = pending_sessions(answers[SESSIONS])
    left_over = left_over_of(states, host, now)
    return {
        "busy": {name: state for name, state in states.items() if name not in left_over},
        "left_over": left_over,
        "timer": seconds_left(answers[SESSIONS], answers[VERSION]),
    }
