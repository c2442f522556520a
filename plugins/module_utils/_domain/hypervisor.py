# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A hypervisor's domains and their ports, by the programs virsh and ovs-vsctl."""

from __future__ import annotations

import json
import os
import tempfile
import time
from typing import Callable

from .._host.programs import Programs
from .._plan.converge import NOT_UNDERSTOOD, DeviceError, Refused
from .._plan.steps import CREATE, RECREATE, REMOVE, Fields, Step
from .planner import KEPT, RUNNING, Domains
from .xml import bridge, function, interface_xml, is_novas, macs_in, ports_in

# How long a guest may take to let go of a port, in seconds, and how often libvirt is asked.
LIMIT, AGAIN = 60.0, 0.5
_FLAG = {RUNNING: "--live", KEPT: "--config"}


class Hypervisor:
    """The hypervisor that this runs on.

    Args:
        sysfs: where its /sys is.
    """

    def __init__(
        self,
        programs: Programs,
        sysfs: str = "/sys",
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._programs = programs
        self._sysfs = sysfs
        self._clock = clock
        self._wait = wait

    def look(self, domain: str) -> Domains:
        """Everything that there is. Raises Refused: there is no such domain, or it is gone with its next stop."""
        names = [name for name in self._virsh("list", "--all", "--name").split("\n") if name]
        if domain not in names:
            raise Refused(f"this hypervisor has no domain {domain}; `virsh list --all` shows those that it has")
        definitions = {name: self._virsh("dumpxml", "--inactive", name) for name in names}
        running = [name for name in self._virsh("list", "--name").split("\n") if name]
        if domain in running and domain not in self._virsh("list", "--all", "--persistent", "--name").split("\n"):
            raise Refused(
                f"domain {domain} is transient and would lose the port with its stop; `virsh define` it first"
            )
        macs = {mac: name for name, text in definitions.items() for mac in macs_in(text)}
        lives = {name: self._virsh("dumpxml", name) for name in running}
        macs.update({mac: name for name, text in lives.items() for mac in macs_in(text)})
        live = ports_in(lives[domain], self._tags()) if domain in lives else {}
        state = {RUNNING: live, KEPT: ports_in(definitions[domain])}
        return Domains(domain, domain in lives, state, macs, is_novas(definitions[domain]))

    def attached(self) -> dict[str, list[str]]:
        """The vPODs that each domain has ports of, as it runs or as it is defined."""
        return {
            name: sorted(
                {vpod for how in ([], ["--inactive"]) for vpod in ports_in(self._virsh("dumpxml", *how, name))}
            )
            for name in self._virsh("list", "--all", "--name").split("\n")
            if name
        }

    def through(self, rnic: str, number: int | None) -> str:
        """What ports of the RNIC are plugged into: a virtual function of it, or the bridge that it is in.

        Raises:
            Refused: there is none.
        """
        if number is not None:
            try:
                link = os.readlink(f"{self._sysfs}/class/net/{rnic}/device/virtfn{number}")
            except OSError:
                raise Refused(
                    f"RNIC {rnic} has no virtual function {number}; run playbooks/poplar_servers.yml"
                ) from None
            return function(os.path.basename(link))
        status, name, _errors = self._programs.attempt(["ovs-vsctl", "port-to-br", rnic])
        if status != 0:
            raise Refused(f"RNIC {rnic} is in no bridge of Open vSwitch; add it to one, or declare virtual_functions")
        return bridge(name.strip())

    def carry_out(self, domain: str, step: Step) -> None:
        """Plug a port in, or unplug it, and wait until the guest has let go of it."""
        if step.action in (REMOVE, RECREATE):
            self._device("detach-device", domain, step, step.before or {})
            if step.kind == RUNNING:
                self._wait_until_unplugged(domain, step.name)
        if step.action in (CREATE, RECREATE):
            self._device("attach-device", domain, step, step.after or {})

    def _device(self, verb: str, domain: str, step: Step, fields: Fields) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write(interface_xml(step.name, fields))
            file.flush()
            self._virsh(verb, domain, file.name, _FLAG[step.kind])

    def _wait_until_unplugged(self, domain: str, vpod: str) -> None:
        until = self._clock() + LIMIT
        while vpod in ports_in(self._virsh("dumpxml", domain)):
            if self._clock() > until:
                raise DeviceError(
                    f"the guest of domain {domain} has not let go of the port of vPOD {vpod} in {LIMIT:g} s; see that "
                    "it has started and its kernel supports hot-plugging, and run again"
                )
            self._wait(AGAIN)

    def _tags(self) -> dict[str, int]:
        """The VLANs of Open vSwitch's ports; without Open vSwitch there are none."""
        answer = self._programs.answer(["ovs-vsctl", "--format=json", "--columns=name,tag", "list", "Port"])
        if answer is None:
            return {}
        try:
            # A port without a tag has an empty set.
            return {name: tag for name, tag in json.loads(answer)["data"] if isinstance(tag, int)}
        except NOT_UNDERSTOOD as error:
            raise DeviceError(f"ovs-vsctl list Port printed something that is not understood: {error}") from None

    def _virsh(self, *words: str) -> str:
        return self._programs.call(["virsh", "--connect", "qemu:///system", *words])
