# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The container engines of a server, podman and Docker as root has them, by their own programs."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from ipaddress import ip_address, summarize_address_range
from typing import Any, ClassVar, Dict, Mapping, Tuple

from .._host.programs import Programs
from .._plan.converge import NOT_UNDERSTOOD, DeviceError
from .._plan.steps import CREATE, RECREATE, REMOVE, Fields, State, Step
from .._rnic.sysfs import Sysfs
from .networks import ENGINE, FOREIGN, FUNCTION, LABEL, MARK, NETWORK, function_name, is_function

# Of each network whether it bears our label, and its fields.
Found = Dict[str, Tuple[bool, Fields]]


class UnfitError(Exception):
    """An engine that answers, and cannot have our networks; the text says why, and what to do."""


class Engine(ABC):
    """One engine, by its client; ``engine`` is the program that is the engine itself."""

    name: str
    engine: str
    # The mode of macvlan in which a network has its interface for itself, whose MAC address its container has.
    alone: str
    # What keeps an engine's server of names out of a network: with its own address there, nobody could ask it.
    no_names: tuple[str, ...] = ()

    def __init__(self, programs: Programs) -> None:
        self._programs = programs

    def is_there(self) -> bool:
        """Whether it is installed, and not only a client or a wrapper that is called the same."""
        return self._programs.answer([self.engine, "--version"]) is not None

    def networks(self) -> Found:
        """All networks.

        Raises:
            DeviceError: it does not answer.
            UnfitError: it is too old, or keeps containers from what they need.
        """
        try:
            return self._networks()
        except NOT_UNDERSTOOD as error:
            raise DeviceError(f"{self.name} printed something that is not understood: {error!r}") from None

    def carry_out(self, step: Step, functions: Mapping[str, str]) -> None:
        """Remove or make a network; ``functions`` are the devices of virtual functions by their names."""
        name = step.name.partition("/")[2]
        if step.action in (REMOVE, RECREATE):
            self._call("network", "rm", name)
        if step.action in (CREATE, RECREATE):
            after = step.after or {}
            interface = after["interface"]
            mode = ("--opt", self.alone) if interface in functions else ()
            # Without a way out: nobody on the RNIC network is a router.
            self._call(
                *(
                    "network",
                    "create",
                    "--driver",
                    after["driver"],
                    "--opt",
                    f"parent={functions.get(interface, interface)}",
                ),
                *mode,
                *("--subnet", after["subnet"], "--ip-range", after["range"], "--internal", *self.no_names),
                *("--label", f"{LABEL}={MARK}", name),
            )

    @abstractmethod
    def _networks(self) -> Found: ...

    def _call(self, *words: str) -> str:
        return self._programs.call([self.name, *words])


class Podman(Engine):
    """podman 4 or later."""

    name = engine = "podman"
    alone = "mode=passthru"
    no_names = ("--disable-dns",)

    def _networks(self) -> Found:
        listed = json.loads(self._call("network", "ls", "--format", "json"))
        if any("Name" in each for each in listed):
            raise UnfitError("is older than 4.0; install a later one")
        containers = json.loads(self._call("ps", "--all", "--format", "json"))
        found: Found = {}
        for each in listed:
            subnet = (each.get("subnets") or [{}])[0]
            fields = {
                "driver": each["driver"],
                "interface": each.get("network_interface", ""),
                "subnet": subnet.get("subnet", ""),
                "range": _range_of(subnet.get("lease_range") or {}),
                "containers": sorted(one["Names"][0] for one in containers if each["name"] in (one["Networks"] or [])),
            }
            found[each["name"]] = (_is_ours(each.get("labels")), fields)
        return found


class Docker(Engine):
    """Docker 20.10 or later."""

    name, engine = "docker", "dockerd"
    alone = "macvlan_mode=passthru"
    # What it says of itself, and what that means for containers.
    unfit: ClassVar[Mapping[str, str]] = {
        "name=rootless": "runs without root's rights, and has no networks on the RNIC; run its daemon as root",
        "name=userns": "maps users (userns-remap), so that files and devices of this server are closed to containers; "
        "switch that off in its daemon.json",
    }

    def _networks(self) -> Found:
        # There are always three networks, `bridge`, `host` and `none`, so that there is something to inspect.
        listed = self._call("network", "ls", "--quiet", "--no-trunc").split()
        for security in json.loads(self._call("info", "--format", "{{json .SecurityOptions}}")) or ():
            # Each is like `name=seccomp,profile=default`.
            if consequence := self.unfit.get(security.split(",")[0]):
                raise UnfitError(consequence)
        found: Found = {}
        for each in json.loads(self._call("network", "inspect", *listed)):
            config = (each["IPAM"].get("Config") or [{}])[0]
            fields = {
                "driver": each["Driver"],
                "interface": (each.get("Options") or {}).get("parent", ""),
                "subnet": config.get("Subnet", ""),
                "range": config.get("IPRange", ""),
                "containers": sorted(one["Name"] for one in (each.get("Containers") or {}).values()),
            }
            found[each["Name"]] = (_is_ours(each.get("Labels")), fields)
        return found


class Engines:
    """All engines that a server has."""

    def __init__(self, programs: Programs, sysfs: Sysfs) -> None:
        self._sysfs = sysfs
        self._engines = [engine for engine in (Podman(programs), Docker(programs)) if engine.is_there()]

    def read(self) -> State:
        """Their networks, or why they cannot be used, as :mod:`.networks` has them."""
        functions = self._functions()
        names = {device: name for name, device in functions.items() if device}
        state: State = {ENGINE: {}, NETWORK: {}, FOREIGN: {}}
        state[FUNCTION] = {name: {"device": device} for name, device in functions.items()}
        for engine in self._engines:
            state[ENGINE][engine.name] = {"message": ""}
            try:
                networks = engine.networks()
            except DeviceError as error:
                message = f"does not answer: {error}; start it, or remove it from this server"
                state[ENGINE][engine.name] = {"message": message}
                continue
            except UnfitError as error:
                state[ENGINE][engine.name] = {"message": str(error)}
                continue
            for name, (is_ours, fields) in networks.items():
                interface = names.get(fields["interface"], fields["interface"])
                state[NETWORK if is_ours else FOREIGN][f"{engine.name}/{name}"] = {**fields, "interface": interface}
        return state

    def carry_out(self, step: Step) -> None:
        """Remove or make a network.

        Raises:
            DeviceError: its engine does not do it, or its virtual function is not there.
        """
        functions = {name: device for name, device in self._functions().items() if device}
        interface = (step.after or {}).get("interface", "")
        if is_function(interface) and interface not in functions:
            raise DeviceError(f"{interface} is not there; run playbooks/poplar_servers.yml, which makes it")
        name = step.name.partition("/")[0]
        for engine in self._engines:
            if engine.name == name:
                engine.carry_out(step, functions)

    def _functions(self) -> dict[str, str]:
        """The network device of each virtual function, by the function's name; empty where it has none here."""
        return {
            function_name(nic, function.index): next(iter(function.devices), "")
            for nic in self._sysfs.max_virtual_functions()
            for function in self._sysfs.functions(nic)
        }


def _is_ours(labels: Mapping[str, str] | None) -> bool:
    return (labels or {}).get(LABEL) == MARK


def _range_of(lease: Mapping[str, Any]) -> str:
    """Of podman's first and last address the range that they were made of; the first of a range is not given out."""
    if not lease:
        return ""
    first, last = (ip_address(lease[key]) for key in ("start_ip", "end_ip"))
    networks = list(summarize_address_range(first - 1, last))
    return str(networks[0]) if len(networks) == 1 else f"{first}-{last}"
