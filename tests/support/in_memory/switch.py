# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated switch in this process: no port, no clock of its own, and its line is cut on request."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Outcome, converge
from ansible_collections.ipu.pod.plugins.module_utils._tor.change import IMMEDIATE, Change
from ansible_collections.ipu.pod.plugins.module_utils._tor.checks import Checks
from ansible_collections.ipu.pod.plugins.module_utils._tor.confirmation import Clock
from ansible_collections.ipu.pod.plugins.module_utils._tor.declared import declare
from ansible_collections.ipu.pod.plugins.module_utils._tor.session import CommandRefused
from podsim.eos.eapi import respond
from podsim.eos.hardware import DCS_7060CX_32S, MODELS
from podsim.eos.releases import DEFAULT_RELEASE, Release
from podsim.eos.switch import NoDataPlane, Switch

HARDWARE = MODELS[DCS_7060CX_32S.model.removesuffix("-F")]
SESSION = "ipu-pod_tester_here_1_20250131T120000Z"


class Killed(BaseException):
    """The run ends here."""


class InProcessSwitch:
    """A switch. ``send`` is what the client gets, ``requests`` what it saw, and the rest is what happens to it.

    Attributes:
        meanwhile: pattern in a command to what happens right after its request.
        dies_at: the number of the request (from 1) at which the run ends.
        after_the_request: whether that request is still carried out.
        unknown: commands that the switch refuses.
        seconds: the time, which passes only when somebody sleeps; ``slept`` counts how often.
        last: the run that was started last.
    """

    def __init__(self, *lines: str, release: str = DEFAULT_RELEASE.name) -> None:
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        self._observed = folder / "observed.json"
        self.observe()
        data_plane = NoDataPlane(HARDWARE.ports)
        files = (folder / "running", folder / "startup")
        self.switch = Switch(*files, HARDWARE, Release(release), data_plane, observed=self._observed)
        self.requests: list[list[str]] = []
        self.meanwhile: dict[str, Callable[[], Any]] = {}
        self.dies_at = 0
        self.after_the_request = False
        self.seconds = 0.0
        self.slept = 0
        self.is_lost = False
        self.unknown: list[str] = []
        self.last: Change | None = None
        if lines:
            self.type(*lines, "end", "write")

    @property
    def clock(self) -> Clock:
        """A clock that runs only while somebody sleeps."""
        return Clock(lambda: self.seconds, self._sleep)

    @property
    def running(self) -> str:
        """The running configuration."""
        return self.type("show running-config")[0]

    @property
    def startup(self) -> str:
        """The configuration that the switch starts with, under the same header."""
        lines = self.type("show startup-config")[0].splitlines(keepends=True)
        kept = [line for line in lines if not line.startswith("! Startup-config last modified")]
        return "".join(kept).replace("startup-config", "running-config")

    @property
    def sessions(self) -> dict[str, str]:
        """The sessions that are open, each with its state."""
        answer = json.loads(self.type("show configuration sessions detail", output="json")[0])
        return {name: each["state"] for name, each in answer["sessions"].items() if each["state"] != "completed"}

    def observe(self, **seen: Any) -> None:
        """Let the switch see neighbours, addresses and counters from now on."""
        self._observed.write_text(json.dumps(seen))

    def type(self, *commands: str, output: str = "text") -> list[str]:
        """Enter commands as another user."""
        params = {"version": 1, "format": output, "cmds": ["enable", *commands]}
        answer = respond(self.switch, "joe", {"jsonrpc": "2.0", "id": 1, "method": "runCmds", "params": params})
        if "error" in answer:
            raise CommandRefused(str(answer["error"]["data"][-1]["errors"][0]))
        results = answer["result"][1:]
        return [result.get("output", "") if output == "text" else json.dumps(result) for result in results]

    def configure(self, *lines: str) -> None:
        """Enter lines of configuration as another user."""
        self.type("configure", *lines)

    def reload(self) -> None:
        """Switch it off and on."""
        self.type("reload now")

    def expire(self) -> None:
        """Let the commit timer end now, if one runs."""
        timer = self.switch.sessions._timer
        if timer:
            timer.cancel()
            timer.function()

    def send(self, commands: Sequence[str], output: str) -> list[str]:
        """The client's way to the switch."""
        if self.is_lost:
            raise DeviceError("no route to host")
        self.requests.append(list(commands))
        dies = len(self.requests) == self.dies_at
        if dies and not self.after_the_request:
            raise Killed
        for command in commands:
            if command in self.unknown:
                raise CommandRefused(f"Invalid input: {command}")
        answers = self.type(*commands, output=output)
        if dies:
            raise Killed
        for pattern, happen in self.meanwhile.items():
            if any(pattern in command for command in commands):
                happen()
        return answers

    def lose(self) -> None:
        """From now on, nothing gets through."""
        self.is_lost = True

    def change(
        self,
        vlans: Any = (),
        ports: Any = (),
        qos: Any = None,
        check_mode: bool = False,
        confirm_within: int = 120,
        checks: Checks = IMMEDIATE,
        confirms: bool = True,
        session: str = SESSION,
        reachable: Callable[[], bool] = lambda: True,
        owned: Any = None,
        **declared: Any,
    ) -> Outcome:
        """One run of tor_switch."""
        wanted = declare(vlans, ports, qos, **declared)
        whole = declare(owned["vlans"], owned["ports"], qos) if owned else None
        one = Change(wanted, self.send, session, confirm_within, checks, confirms, "here", reachable, self.clock, whole)
        self.last = one
        return converge(one.read, one.plan, one.apply, check_mode)

    def _sleep(self, seconds: float) -> None:
        self.seconds += seconds
        self.slept += 1
