# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole pod in memory: its devices give looks and do what the plays of a run do, up to where the run is killed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from ansible_collections.ipu.pod.plugins.module_utils._look.switch import look_at as look_at_switch
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import Step
from ansible_collections.ipu.pod.plugins.module_utils._rnic.plan import gathered, lasting
from ansible_collections.ipu.pod.plugins.module_utils._vipu.access import AccessKeys
from ansible_collections.ipu.pod.plugins.module_utils._vipu.engine import Engine
from ansible_collections.ipu.pod.plugins.module_utils._vipu.options import declared_by, policy_of
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.decision import Decision, Request, decide
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.poplar_server import poplar_server_resources
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.resources import (
    Account,
    Directory,
    Made,
    Resource,
    Unit,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.resources import File as FileThing
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.vipu_controller import (
    Service,
    as_wanted_user,
    dedicated_service,
    service_of,
    service_resources,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._inventory import stages
from ansible_collections.ipu.pod.plugins.plugin_utils._inventory.stages import STAGE_NAMES, STAGES
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.model import Declaration
from tests.support.controller_looks import PROGRAM, asked
from tests.support.controller_looks import SETTINGS as CONTROLLER_SETTINGS
from tests.support.in_memory import server_looks, vpod_hosts
from tests.support.in_memory.controller import InProcess
from tests.support.in_memory.kernel import Nic
from tests.support.in_memory.rnic_runs import changed, client_of, confirmed, networkd_server
from tests.support.in_memory.switch import InProcessSwitch

CONTROLLER = "ctrl"
SWITCH_SETTINGS: dict[str, Any] = {
    "tor_switch_state": "merged",
    "tor_switch_scope": {},
    "tor_switch_checks": {},
    "tor_switch_confirm_within": 120,
}
SERVER_SETTINGS = {**server_looks.settings(memlock="unlimited"), **vpod_hosts.SETTINGS}

Fields = Mapping[str, Any]
Look = dict[str, Any]
# Device, kind, name and action of a step.
Key = tuple[str, str, str, str]


class Killed(BaseException):
    """The run ends here."""


class Life:
    """How many things a run may still do before it is killed; None for all."""

    def __init__(self, left: int | None = None) -> None:
        self.left = left

    def spend(self) -> None:
        """One thing more."""
        if self.left == 0:
            raise Killed
        self.left = None if self.left is None else self.left - 1


class SwitchInMemory:
    """A switch; its changes come all together."""

    def __init__(self) -> None:
        self.switch = InProcessSwitch()
        self._changes = 0

    def look(self) -> Look:
        parts = look_at_switch(self.switch.send, "here", lambda: self.switch.seconds)
        return {"settings": SWITCH_SETTINGS, "parts": parts}

    def carry_out(self, _stage: str, options: Fields, life: Life) -> None:
        life.spend()
        wanted = {name: options[name] for name in ("vlans", "ports", "qos", "canary", "owned") if options.get(name)}
        self._changes += 1
        session = f"ipu-pod_tester_here_{self._changes}_20250131T120000Z"
        outcome = self.switch.change(**wanted, session=session)
        assert outcome.failure is None, outcome.failure


class ServerInMemory:
    """A Poplar server with systemd-networkd; its NICs are changed all together, its files one by one."""

    def __init__(self, name: str, controllers: Mapping[str, ControllerInMemory]) -> None:
        self.server = networkd_server()
        self.host = vpod_hosts.Host(name)
        self.controllers = controllers
        self.in_use: list[str] = []

    def look(self) -> Look:
        found = server_looks.look_at(self.server)
        parts = {**self.host.look()["parts"], **found["parts"]}
        del parts["controllers"]
        seen = client_of(self.server).survey()
        parts["network"].update(gathered=gathered(seen), lasting=lasting(seen))
        parts["nics"] = {
            "nics": [_nic(name, nic) for name, nic in self.server.nics.items() if not nic.kind],
            "minimum": {},
        }
        parts["roce"] = {"message": "this server has neither mlnx_qos nor dcb"}
        parts["things"] = {**server_looks.THINGS, **self.host.look()["parts"]["things"]}
        parts["use"] = {"in_use": self.in_use, "unknown": []}
        return {"settings": SERVER_SETTINGS, "parts": parts}

    def carry_out(self, stage: str, options: Fields, life: Life) -> None:
        if stage in (stages.VPODS, stages.VPODS_DOWN):
            controller = self.controllers[(options["vipu"] or {}).get("controller", CONTROLLER)]
            controller.configure()
            vpod_hosts.carry_out(self.host, controller.host, options, SERVER_SETTINGS, life.spend)
            return
        interfaces = [dict(each) for each in options["interfaces"]]
        if changed(self.server, interfaces, check_mode=True).steps:
            life.spend()
            assert confirmed(self.server, interfaces).failure is None
        resources = poplar_server_resources(SERVER_SETTINGS)
        vpod_hosts.write(self.host, resources, self.controllers[CONTROLLER].host, life.spend)


def _nic(name: str, nic: Nic) -> Fields:
    """The look's data of a NIC that works."""
    usual = {"carrier": True, "speed": 100_000, "speed_verdict": "ok", "firmware": {"verdict": "unknown"}}
    return {"name": name, "mac": nic.mac, "up": nic.up, "rdma_device": name.replace("rnic", "mlx5_"), **usual}


class ControllerInMemory:
    """The host of a V-IPU controller and of dedicated ones; what they hold is changed step by step."""

    def __init__(self, name: str) -> None:
        self.host = vpod_hosts.Host(name)
        self.host.files.write(PROGRAM, File("", mode="0755"))
        self.sites: dict[str, InProcess] = {}
        self.units: dict[str, Any] = {}
        self.accounts: set[str] = set()
        self.keys = 0

    def look(self) -> Look:
        nobody = {"storage": False, "message": "nobody listens", "allocates_by_agents": True}
        controllers = {"": nobody, **asked(self.sites, self.partitions)}
        return {"settings": CONTROLLER_SETTINGS, "parts": {"controllers": controllers, "things": self._things()}}

    def _things(self) -> Fields:
        own = {"units": dict(self.units), "accounts": sorted(self.accounts)}
        return {**server_looks.THINGS, **self.host.look()["parts"]["things"], **own}

    @property
    def partitions(self) -> list[str]:
        """All partitions, of whichever controller."""
        return [partition for site in self.sites.values() for partition in site.client.read(["partition"])["partition"]]

    def configure(self) -> None:
        """Have the IPUoF configurations of all partitions at hand."""
        controllers = asked(self.sites, self.partitions).values()
        self.host.configurations = {
            name: found for each in controllers for name, found in each["ipuof_configurations"].items()
        }

    def carry_out(self, stage: str, options: Any, life: Life) -> None:
        if stage == stages.DEDICATED_DOWN:
            for name in options["removed"]:
                self._remove(dedicated_service(CONTROLLER_SETTINGS, name), life)
            for each in options["emptied"]:
                if each["name"] in self.sites:
                    self._hold(each["name"], each, life)
            return
        if stage == stages.DEDICATED:
            settings = {**CONTROLLER_SETTINGS, "vipu_controller_dedicated": options}
            for each in options:
                self._serve(settings, dedicated_service(settings, each["name"]), life)
                self._hold(each["name"], each, life)
            return
        settings = {**CONTROLLER_SETTINGS, **{f"vipu_controller_{name}": value for name, value in options.items()}}
        kinds = ("agents", "clusters", "allocations") if stage == stages.CONTROLLERS else tuple(options)
        if stage == stages.CONTROLLERS:
            self._serve(settings, service_of(settings), life)
        self._hold("", {name: options[name] for name in kinds if name in options}, life)

    def _serve(self, settings: Fields, service: Service, life: Life) -> None:
        if service.unit not in self.units:
            # A controller with a storage that does not run is refused, with a remedy; so it comes at once here.
            life.spend()
            life = Life()
        seen = self._things()
        own = as_wanted_user(service, settings, seen)
        for thing in service_resources(settings, service.vpod, seen):
            self._write(thing, own, life)

    def _write(self, thing: Resource, service: Service, life: Life) -> None:
        match thing:
            case File() | Directory() | FileThing():
                vpod_hosts.write(self.host, [thing], self.host, life.spend)
            case Account() if thing.name not in self.accounts:
                life.spend()
                self.accounts.add(thing.name)
            case Made() if thing.creates not in self.host.files.files:
                life.spend()
                self.host.files.write(thing.creates, File("", owner=service.user, mode="0600"))
                for path in vpod_hosts.certificates(service.directory):
                    self.host.files.write(path, File(f"certificate {path}\n"))
            case Unit() if not self._is_fresh(thing.name, service):
                life.spend()
                started = self._modified(service.unit_file)
                self.units[thing.name] = {"there": True, "active": "active", "enabled": True, "started_at": started}
                self.sites.setdefault(service.vpod, InProcess())

    def _is_fresh(self, unit: str, service: Service) -> bool:
        """Whether a unit runs with the file that is there."""
        return unit in self.units and self.units[unit]["started_at"] >= self._modified(service.unit_file)

    def _modified(self, path: str) -> int:
        return self.host.files.modified(path) or 0

    def _hold(self, vpod: str, options: Fields, life: Life) -> None:
        """Do the work of the module vipu_state, with the keys of users in files of this host."""
        service = dedicated_service(CONTROLLER_SETTINGS, vpod) if vpod else service_of(CONTROLLER_SETTINGS)
        kinds = ("agents", "clusters", "allocations", "users", "partitions")
        params = {kind: options[kind] for kind in kinds if kind in options}
        engine = MortalEngine(self, vpod, declared_by(params), policy_of({**params, "key_directory": "/keys"}), life)
        for name, fields in engine.users_gone().items():
            assert not fields["admin"], name
        outcome = engine.converge(check_mode=False)
        assert outcome.failure is None, outcome.failure
        self._drop_keys(service, params)

    def _drop_keys(self, service: Service, params: Fields) -> None:
        for each in params.get("users", ()):
            if each.get("state") == "absent":
                self.host.files.remove(f"{service.directory}/keys/{each['name']}.key")

    def keep_key(self, vpod: str, user: str) -> None:
        """A new user has a new key."""
        service = dedicated_service(CONTROLLER_SETTINGS, vpod) if vpod else service_of(CONTROLLER_SETTINGS)
        self.keys += 1
        self.host.files.write(f"{service.directory}/keys/{user}.key", File(f"key {self.keys} of {user}\n", mode="0600"))

    def _remove(self, service: Service, life: Life) -> None:
        life.spend()
        self.sites.pop(service.vpod, None)
        self.units.pop(service.unit, None)
        ours = (service.directory, service.unit_file, service.credentials, service.backup_program)
        ours += (service.log_rotation,)
        self.accounts.discard(service.account)
        for path in [path for path in self.host.files.files if path.startswith(ours)]:
            self.host.files.remove(path)
        for path in [path for path in self.host.directories if path.startswith(service.directory)]:
            del self.host.directories[path]


class MortalEngine(Engine):
    """Spends life with every step."""

    def __init__(self, host: ControllerInMemory, vpod: str, declared: Any, policy: Any, life: Life) -> None:
        self._site = host.sites[vpod]
        super().__init__(self._site.client, declared, policy, AccessKeys(keep=True), wait_timeout=0)
        self._host, self._vpod, self._life = host, vpod, life

    def users_gone(self) -> dict[str, Any]:
        """The users that would go."""
        return {step.name: step.before or {} for step in self.plan(self.read()) if step.kind == "user" and step.before}

    def carry_out(self, step: Step) -> None:
        """One step more."""
        self._life.spend()
        super().carry_out(step)
        if (step.action, step.kind) == ("create", "user"):
            self._host.keep_key(self._vpod, step.name)


class PodInMemory:
    """The devices of one pod by their names. ``declared`` is what pods.yml says of the pod, without its vPODs."""

    def __init__(self, servers: Sequence[str], tor: str, own_hosts: Sequence[str] = ()) -> None:
        self.controllers = {name: ControllerInMemory(name) for name in (CONTROLLER, *own_hosts)}
        self.controller = self.controllers[CONTROLLER]
        self.switch = SwitchInMemory()
        self.servers = {name: ServerInMemory(name, self.controllers) for name in servers}
        self.devices: dict[str, Any] = {tor: self.switch, **self.servers, **self.controllers}
        self._looks: dict[str, str] = {}

    def looks(self) -> dict[str, Look]:
        """Looks at all devices, as they are read from files; who was not touched is not looked at again."""
        for name, device in self.devices.items():
            if name not in self._looks:
                found = {"host": name, "outcome": "answered", "message": "", **device.look()}
                self._looks[name] = json.dumps(found)
        return {name: json.loads(look) for name, look in self._looks.items()}

    def touch(self, *names: str) -> None:
        """Somebody else has changed these."""
        for name in names:
            self._looks.pop(name, None)

    def decide(self, declaration: Declaration, only: Sequence[str] | None = None, **words: Any) -> Decision:
        """The decision of a run that may interrupt everybody."""
        allowed = (*declaration.vpods, *declaration.absent)
        request = Request(**{"hosts": list(self.devices), "allowed": allowed, "only": only and tuple(only), **words})
        return decide(declaration, self.looks(), request)

    def carry_out(self, decision: Decision, life: Life | None = None, stages: Collection[str] = STAGE_NAMES) -> None:
        """The stages of a plan, or some of them, device by device."""
        for stage in [each.name for each in STAGES if each.name in stages]:
            for name, options in decision.plan.options.get(stage, {}).items():
                self.touch(name, *self.controllers)
                self.devices[name].carry_out(stage, options, life or Life())


def declared(vpods: Fields, **pod: Any) -> Declaration:
    """A pod with three Poplar servers and these vPODs."""
    return parse_declaration(
        {
            "schema": 1,
            "pods": {
                "p": {
                    "model": "bow-pod64",
                    "poplar_servers": 3,
                    "vlans": {"quarantine": 999},
                    "rnic": {"interface": "rnic0"},
                    **pod,
                }
            },
            "controllers": {CONTROLLER: {"address": "10.1.3.200", "mode": "secure"}},
            "clusters": {"c": {"controller": CONTROLLER, "pods": ["p"]}},
            "vpods": dict(vpods),
        }
    )


def pod(own_hosts: Sequence[str] = ()) -> PodInMemory:
    """The devices of :func:`declared`, as they come from the factory; dedicated controllers may have ``own_hosts``."""
    return PodInMemory([f"p-poplar{number}" for number in (1, 2, 3)], "p-tor", own_hosts)


def keys(decision: Decision) -> Counter[Key]:
    """The keys of the steps of a plan, counted."""
    return Counter((step["device"], step["kind"], step["name"], step["action"]) for step in decision.plan.steps)
