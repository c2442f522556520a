# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""podman 4.3 with CNI and Docker 20.10 in memory, by the words and answers of their programs about networks."""

from __future__ import annotations

import json
from ipaddress import ip_network
from typing import Any

VERSIONS = {
    "podman": "podman version 4.3.1\n",
    "dockerd": "Docker version 20.10.24+dfsg1, build 297e128\n",
}
# The program that an engine is; Docker's client has another name.
OF_PROGRAMS = {"podman": "podman", "dockerd": "docker"}
# The option that makes a network have its interface alone.
ALONE = {"podman": "mode", "docker": "macvlan_mode"}
BUILT_IN = {"podman": "podman", "docker": "bridge"}
Answer = tuple[int, str, str]


class ContainerEngines:
    """The engines of a server; ``run`` is how programs are run there."""

    def __init__(self, *engines: str) -> None:
        self.programs = list(engines)
        # By engine and name; and of each network the containers that have it.
        self.networks: dict[tuple[str, str], dict[str, Any]] = {}
        self.containers: dict[tuple[str, str], list[str]] = {}
        for engine in engines:
            self.make(engine, BUILT_IN[engine], driver="bridge")
        self.asked: list[list[str]] = []
        self.down: dict[str, str] = {}
        self.answers: dict[tuple[str, ...], str] = {}
        self.refuses = ""
        # What Docker says of how it keeps containers from their host.
        self.security = ["name=seccomp,profile=default"]

    def make(
        self,
        engine: str,
        name: str,
        interface: str = "",
        subnet: str = "",
        given: str = "",
        driver: str = "macvlan",
        labels: dict[str, str] | None = None,
    ) -> None:
        self.networks[engine, name] = {
            "driver": driver,
            "interface": interface,
            "subnet": subnet,
            "range": given,
            "labels": labels or {},
        }

    def start(self, engine: str, container: str, network: str) -> None:
        self.containers.setdefault((engine, network), []).append(container)

    def run(self, argv: list[str]) -> Answer:
        self.asked.append(argv)
        engine, *words = argv
        if words == ["--version"]:
            return self._version(engine)
        if engine not in self.programs:
            raise FileNotFoundError(2, "No such file or directory")
        if engine in self.down:
            return 1, "", self.down[engine]
        for known, answer in self.answers.items():
            if tuple(argv[: len(known)]) == known:
                return 0, answer, ""
        if words[:2] == ["network", "create"]:
            return self._create(engine, words[2:])
        if words[:2] == ["network", "rm"]:
            return self._remove(engine, words[2])
        return 0, self._podman(words) if engine == "podman" else self._docker(words), ""

    def _version(self, program: str) -> Answer:
        if OF_PROGRAMS.get(program) not in self.programs:
            raise FileNotFoundError(2, "No such file or directory")
        return 0, VERSIONS[program], ""

    def _podman(self, words: list[str]) -> str:
        match words:
            case ["network", "ls", "--format", "json"]:
                return json.dumps([_of_podman(name, each) for name, each in self._of("podman")])
            case ["ps", "--all", "--format", "json"]:
                return json.dumps(self._running("podman"))
        raise AssertionError(f"podman knows no {words}")

    def _docker(self, words: list[str]) -> str:
        match words:
            case ["network", "ls", "--quiet", "--no-trunc"]:
                return "".join(f"id-of-{name}\n" for name, _each in self._of("docker"))
            case ["info", "--format", "{{json .SecurityOptions}}"]:
                return json.dumps(self.security)
            case ["network", "inspect", *ids]:
                return json.dumps(
                    [self._of_docker(name, each) for name, each in self._of("docker") if f"id-of-{name}" in ids]
                )
        raise AssertionError(f"docker knows no {words}")

    def _remove(self, engine: str, name: str) -> Answer:
        if self.containers.get((engine, name)):
            return 1, "", f"network {name} has active endpoints"
        del self.networks[engine, name]
        return 0, f"{name}\n", ""

    def _create(self, engine: str, words: list[str]) -> Answer:
        if self.refuses:
            return 125, "", self.refuses
        options: dict[str, str] = {}
        given: dict[str, str] = {}
        while words[0].startswith("--"):
            option = words.pop(0)
            alone = option == "--internal" or (engine == "podman" and option == "--disable-dns")
            value = "" if alone else words.pop(0)
            if option == "--opt":
                given.update([value.split("=", 1)])
            options[option] = value
        (name,) = words
        if (engine, name) in self.networks:
            return 125, "", f"Error: network name {name} already used"
        label, _equals, value = options["--label"].partition("=")
        interface = given["parent"]
        assert given in ({"parent": interface}, {"parent": interface, ALONE[engine]: "passthru"}), given
        described = (interface, options["--subnet"], options["--ip-range"], options["--driver"])
        self.make(engine, name, *described, {label: value})
        return 0, f"{name}\n", ""

    def _of(self, engine: str) -> list[tuple[str, dict[str, Any]]]:
        return [(name, each) for (owner, name), each in self.networks.items() if owner == engine]

    def _running(self, engine: str) -> list[dict[str, Any]]:
        return [
            {"Names": [container], "Networks": [network], "State": "running"}
            for (owner, network), containers in self.containers.items()
            for container in containers
            if owner == engine
        ]

    def _of_docker(self, name: str, each: dict[str, Any]) -> dict[str, Any]:
        config = {"Subnet": each["subnet"], "IPRange": each["range"]}
        containers = self.containers.get(("docker", name), [])
        return {
            "Name": name,
            "Driver": each["driver"],
            "IPAM": {"Driver": "default", "Options": {}, "Config": [{k: v for k, v in config.items() if v}]},
            "Internal": True,
            "Containers": {f"id-of-{container}": {"Name": container} for container in containers},
            "Options": {"parent": each["interface"]} if each["interface"] else {},
            "Labels": each["labels"],
        }


def _of_podman(name: str, each: dict[str, Any]) -> dict[str, Any]:
    found = {"name": name, "driver": each["driver"], "internal": False, "ipam_options": {"driver": "host-local"}}
    if each["interface"]:
        found["network_interface"] = each["interface"]
    if each["labels"]:
        found["labels"] = each["labels"]
    if each["subnet"]:
        subnet = {"subnet": each["subnet"], "gateway": str(ip_network(each["subnet"])[1])}
        if each["range"]:
            whole = ip_network(each["range"])
            subnet["lease_range"] = {"start_ip": str(whole[1]), "end_ip": str(whole[-1])}
        found["subnets"] = [subnet]
    return found
