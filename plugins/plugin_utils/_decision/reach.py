# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One rule for all ways in which something leaves a vPOD: no vPOD's VLAN reaches what is not its own. Pure.

It holds after every stage of a plan, as a run may end after any. An IPU-Machine belongs to who has its allocation, and
where nobody has, to the vPOD that pods.yml gives it to; a Poplar server belongs to the vPOD that names it. What was
wrong before stays wrong only where the run does not change the switch, or where pods.yml does not know that vPOD.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import Fields, Step, predict
from ansible_collections.ipu.pod.plugins.module_utils._tor.running_config import PORTS, VLANS
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import ALLOCATION

from .._desired.desired import tenants_of
from .._desired.switches import VLAN_SETTINGS
from .._inventory.stages import ALLOCATIONS_DOWN, CONTROLLERS, STAGES, SWITCHES, SWITCHES_DOWN, Stage
from .._placement.cluster_space import jobs_inside
from .._pod.devices import TOR, Device, devices_of, ports_of
from .._pod.managed import unmanaged
from .._pod.model import SWITCH_LAYER, Declaration
from .._pod.ports import places_of
from .._pod.switches import EXTERNAL, QUARANTINE
from .._pod.wording import spans
from .._vpods.strays import Switch, vpods_reaching
from .looks import Look, part
from .stage_steps import Plan
from .tenancy import Tenancy

# The stages that move ports and allocations, in their order.
MOMENTS = (SWITCHES_DOWN, ALLOCATIONS_DOWN, CONTROLLERS, SWITCHES)
# Whose an IPU-Machine is that the controller may give to any allocation that is about to be made.
ANYBODY = "*"

MayChange = Callable[[str, Stage], bool]


@dataclass(frozen=True)
class _Trespass:
    """A device in the VLAN of a vPOD that is not its own."""

    device: str
    tenant: str  # the vPOD whose VLAN it is
    owner: str  # the vPOD or the allocation whose the device is, or ANYBODY; empty for nobody's
    is_allocated: bool  # whether the owner has its allocation


def trespasses(
    tenancy: Tenancy, plan: Plan, looks: Mapping[str, Look], may_change: MayChange, only: Sequence[str] | None = None
) -> list[dict[str, str]]:
    """Where the rule would be broken after a stage: ``device``, a switch, and ``message`` with the remedy.

    ``may_change`` says which stages the run may carry out on a device, and ``only`` which vPODs it is about (None:
    all). What becomes of external ports, and of switches that are not managed, is their owners' business.
    """
    floor = _Floor(tenancy, plan, looks)
    known = {*tenancy.declaration.absent, *tenancy.declaration.vpods}
    refused, moved = {each["device"] for each in plan.refusals}, {stage for _device, stage in plan.made}
    before = now = list(floor.trespasses(()))
    found: dict[str, tuple[_Trespass, bool]] = {}
    for number, moment in enumerate(MOMENTS, 1):
        now = list(floor.trespasses(MOMENTS[:number])) if moment in moved else now
        for each in now:
            switch, is_new = floor.switch_of(each.device), each not in before
            is_left = moment == SWITCHES and each.tenant in known and may_change(switch, _stage(SWITCHES))
            is_meant = only is None or each.owner == ANYBODY or not {each.tenant, each.owner}.isdisjoint(only)
            if is_meant and switch not in refused and (is_new or is_left):
                found.setdefault(each.device, (each, is_new))
    return _told(floor, list(found.values()), may_change)


class _Floor:
    """Whose VLAN reaches what, at any moment of a plan."""

    def __init__(self, tenancy: Tenancy, plan: Plan, looks: Mapping[str, Look]) -> None:
        self.declaration = tenancy.declaration
        self.devices = devices_of(self.declaration)
        self._tenancy, self._plan = tenancy, plan
        self._tenants = {name: vpod.name for name, vpod in tenants_of(self.declaration, tenancy.placement).items()}
        only_read = unmanaged(self.declaration)[SWITCH_LAYER]
        tors = [each.name for each in self.devices.values() if each.kind == TOR and each.name not in only_read]
        self._seen = {name: found for name in tors for found in [part(looks.get(name), "gathered")] if found}
        # One that was looked at and did not answer is refused for that.
        self._unseen = self._as_allocated([name for name in tors if name not in looks])
        self._external = {
            place.device.name
            for pod in self.declaration.pods.values()
            for place in places_of(pod).values()
            if place.device and place.declared and place.declared.owner == EXTERNAL
        }

    def switch_of(self, device: str) -> str:
        """The ToR switch that a device is cabled to."""
        return str(self.devices[device].facts["switch"])

    def trespasses(self, done: Sequence[str]) -> Iterator[_Trespass]:
        """Where the rule is broken once these stages are done."""
        holders = self._holders(done)
        owners = {**self._tenants, **holders}
        if done and done[-1] == CONTROLLERS:
            owners.update(dict.fromkeys(self._tenancy.choosable - self._holders(done[:-1]).keys(), ANYBODY))
        seen = {name: _after(there, self._plan.before(name, *done)) for name, there in self._seen.items()}
        for device, tenant in {**self._unseen, **vpods_reaching(self.declaration, seen)}.items():
            if owners.get(device) != tenant and device not in self._external:
                yield _Trespass(device, tenant, owners.get(device, ""), device in holders)

    def _holders(self, done: Sequence[str]) -> dict[str, str]:
        """IPU-Machine to the allocation that has it; what jobs have inside a vPOD that is for them is the vPOD's."""
        allocations = {
            host: _allocations_after(names, self._plan.before(host, *done))
            for host, names in self._tenancy.allocations.items()
        }
        inside = {
            name: vpod.name
            for vpod in self.declaration.vpods.values()
            for name in jobs_inside(self.declaration, allocations, vpod)
        }
        return {
            agent: inside.get(name, name)
            for names in allocations.values()
            for name, agents in names.items()
            for agent in agents
        }

    def _as_allocated(self, switches: Sequence[str]) -> dict[str, str]:
        """A port that is not looked at is taken to be in a VLAN of the vPOD that has its allocation.

        That vPOD may be declared without a VLAN only since the last run.
        """
        vpods = {**self.declaration.absent, **self.declaration.vpods}
        return {
            machine: name
            for machine, name in self._holders(()).items()
            if name in vpods
            if machine in self.devices and self.switch_of(machine) in switches
        }


def _stage(name: str) -> Stage:
    return next(stage for stage in STAGES if stage.name == name)


def _after(switch: Switch, steps: Sequence[Step]) -> Switch:
    """Return the state of a switch as it was seen, with these steps carried out."""
    state = {
        PORTS: {port["name"]: port for port in switch["ports"]},
        VLANS: {str(vlan["vlan_id"]): vlan for vlan in switch["vlans"]},
    }
    after = predict(state, [step for step in steps if step.kind in state])
    return {
        "ports": [{**fields, "name": name} for name, fields in after[PORTS].items()],
        "vlans": [{**fields, "vlan_id": int(vlan)} for vlan, fields in after[VLANS].items()],
    }


def _allocations_after(names: Mapping[str, Sequence[str]], steps: Sequence[Step]) -> dict[str, Sequence[str]]:
    there: dict[str, Fields] = {name: {"agents": agents} for name, agents in names.items()}
    after = predict({ALLOCATION: there}, [step for step in steps if step.kind == ALLOCATION])
    return {name: fields["agents"] for name, fields in after[ALLOCATION].items()}


def _told(floor: _Floor, found: Sequence[tuple[_Trespass, bool]], may_change: MayChange) -> list[dict[str, str]]:
    """One sentence for all devices of a switch that have tenant, owner and remedy in common."""
    together: dict[tuple[str, ...], list[str]] = {}
    for each, is_new in found:
        switch = floor.switch_of(each.device)
        needed = (SWITCHES_DOWN, SWITCHES) if is_new else (SWITCHES,)
        is_left_alone = not all(may_change(switch, _stage(name)) for name in needed)
        remedy = _remedy(floor.declaration, floor.devices[each.device], each.owner, is_left_alone)
        whose = _whose(floor.declaration, each.owner)
        together.setdefault((switch, each.tenant, whose, remedy), []).append(each.device)
    return [
        {
            "device": switch,
            "message": f"the VLAN of vPOD {tenant} would reach {spans(devices)}, which {whose}; {remedy}",
        }
        for (switch, tenant, whose, remedy), devices in together.items()
    ]


def _whose(declaration: Declaration, owner: str) -> str:
    if owner == ANYBODY:
        return "the controller may give to another one"
    if not owner:
        return "no vPOD has"
    return f"{'vPOD' if owner in declaration.vpods else 'allocation'} {owner} has"


def _remedy(declaration: Declaration, device: Device, owner: str, is_left_alone: bool) -> str:
    pod, vpod = declaration.pods[device.pod], declaration.vpods.get(owner)
    port = places_of(pod)[ports_of(device)[0]].declared
    if is_left_alone:
        return f"let the run change {device.facts['switch']}, too, and all else that playbooks/vpods.yml does"
    if port and not port.settings.keys().isdisjoint(VLAN_SETTINGS):
        return f"take that from pods.{pod.name}.tor.ports.{port.name}"
    if vpod and vpod.vlan is None and pod.rnic_vlan is None:
        return f"declare a VLAN for it, vpods.{owner}.vlan or pods.{pod.name}.rnic.vlan"
    if pod.rest_vlan is None:
        home = f"pods.{pod.name}"
        return f"declare a VLAN for what no vPOD has, {home}.rnic.vlan or {home}.vlans.{QUARANTINE}"
    return "run playbooks/vpods.yml without vpods_only"
