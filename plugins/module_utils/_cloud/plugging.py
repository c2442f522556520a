# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine of a cloud that runs, on its way to having a port of a vPOD or not: look, plug in or unplug, look again."""

from __future__ import annotations

import time
from typing import Any

from .._plan.converge import DeviceError, Outcome, Refused, one_by_one
from .._plan.module import run
from .._plan.steps import CREATE, State, Step
from . import attachments
from .attachments import Wanted
from .client import Cloud, connect
from .entities import PORT, Look, attached_to
from .look import look_at_cloud

# How long between two looks at a port that a guest is to let go of, in seconds.
LOOK_AGAIN = 1.0


class Plugging:
    """One change of one machine, by the operator, who needs no role in the machine's project."""

    def __init__(self, cloud: Cloud, wanted: Wanted, present: bool, wait_timeout: float) -> None:
        self.look: Look = {}
        self._cloud = cloud
        self._wanted = wanted
        self._present = present
        self._wait_timeout = wait_timeout
        self._ids: dict[str, str] = {}

    def read(self) -> State:
        """The ports by which machines are attached to the vPOD."""
        self.look = look_at_cloud(self._cloud)
        self._ids = {port["name"]: port["id"] for port in self.look["ports"]}
        return attachments.state_of(self.look, self._wanted)

    def plan(self, _state: State) -> list[Step]:
        """The ordered steps, on what was read last."""
        return (attachments.plan if self._present else attachments.plan_removal)(self._wanted, self.look)

    def carry_out(self, step: Step) -> None:
        """Do one step."""
        doing = f"{step.action} {step.kind} {step.name}"
        if step.kind == PORT:
            (self._create_port if step.action == CREATE else self._remove_port)(step, doing)
        else:
            (self._plug_in if step.action == CREATE else self._unplug)(step, doing)

    def machine(self, control_network: str) -> dict[str, str]:
        """What there is to know of the machine, and of its port."""
        thing = attachments.machine_in(self.look, self._wanted.machine)
        port = attachments.port_in(self.look, self._wanted, thing)
        return {
            "name": thing["name"],
            "project": thing["project"],
            "hypervisor": thing["hypervisor"],
            "control_address": attachments.address_in(self.look, thing, control_network),
            "mac": str(port.get("mac_address", "")),
            "address": "".join(port.get("addresses", [])[:1]),
        }

    def _create_port(self, step: Step, doing: str) -> None:
        fields = step.after or {}
        machine = attachments.machine_in(self.look, self._wanted.machine)
        networks = self.look["networks"]
        body = {
            "name": step.name,
            "description": attached_to(self._wanted.vpod),
            "project_id": machine["project_id"],
            "network_id": next(
                each["id"]
                for each in networks
                if (each["name"], each["vpod"]) == (fields["network"], self._wanted.vpod)
            ),
        }
        made = self._cloud.request("network", "POST", "/ports", doing, json={"port": body})
        self._ids[step.name] = made["port"]["id"]

    def _remove_port(self, step: Step, doing: str) -> None:
        self._cloud.request("network", "DELETE", f"/ports/{self._ids[step.name]}", doing, missing={})

    def _plug_in(self, step: Step, doing: str) -> None:
        body = {"interfaceAttachment": {"port_id": self._ids[step.name]}}
        path = f"/servers/{(step.after or {})['machine']}/os-interface"
        self._cloud.request("compute", "POST", path, doing, json=body)

    def _unplug(self, step: Step, doing: str) -> None:
        port = self._ids[step.name]
        path = f"/servers/{(step.before or {})['machine']}/os-interface/{port}"
        self._cloud.request("compute", "DELETE", path, doing, missing={})
        until = time.monotonic() + self._wait_timeout
        # Nova answers before the guest has let go of it.
        while self._cloud.get("network", f"/ports/{port}")["port"]["device_id"]:
            if time.monotonic() > until:
                raise DeviceError(
                    f"machine {self._wanted.machine} has not let go of the port in {self._wait_timeout:g} s; see that "
                    "it has started and its kernel supports hot-plugging, and run again"
                )
            time.sleep(LOOK_AGAIN)


def run_module(module: Any) -> None:
    """Do what an ``AnsibleModule`` with the options of ``ipu.pod.cloud_port`` asks, and end it."""
    params = module.params
    names = ("machine", "vpod", "network", "hypervisors", "other_vpods", "leaving")
    wanted = Wanted(*(params[name] for name in names))
    try:
        plugging = Plugging(
            connect(params["entry"]), wanted, params["state"] == "present", float(params["wait_timeout"])
        )
    except (DeviceError, Refused) as error:
        module.fail_json(msg=str(error), changed=False)

    def extra(_outcome: Outcome) -> dict[str, Any]:
        return plugging.machine(params["control_network"])

    run(module, plugging.read, plugging.plan, one_by_one(plugging.carry_out), extra=extra)
