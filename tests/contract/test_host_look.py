# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A look at a host with a real systemd, simulated NICs and two V-IPU controllers: every part answers."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.typed_looks import (
    rnic_server_from,
    roce_server_from,
    uses_from,
)
from tests.support.container_server import ContainerServer, begin_play, end_of
from tests.support.controller_host import MACHINES, controller_host

PARTS = ["links", "network", "uses", "roce", "nics", "use", "ipuof", "containers", "things", "controllers", "leases"]
MACHINE = "p-ipum1"
KEY = "/var/lib/vipu/keys/alice.key"
OPTIONS: dict[str, Any] = {
    "parts": PARTS,
    "paths": ["/var/lib/vipu", "/etc/systemd/system/vipu-server*.service", "/etc/no-such-file"],
    "texts": ["/etc/hostname"],
    "units": ["vipu-server.service", "vipu-server-alice.service", "no-such-unit.service"],
    "packages": ["systemd", "no-such-package"],
    "kernel_parameters": ["net.ipv4.ip_forward"],
    "secrets": ["/var/lib/vipu/keys/*.key"],
    "run_key": "of the run",
    "controllers": [{"name": ""}],
    "dedicated_units": True,
    "ipuof_configurations": ["train", "no-such-partition"],
}


def start_controller(server: ContainerServer, name: str, ports: tuple[int, int, int]) -> None:
    """A controller as a service, as the role leaves it."""
    user, admin, metrics = ports
    unit, folder = f"vipu-server{name}.service", f"/var/lib/vipu{name}"
    program = f"/usr/local/bin/vipu-server --storage {folder}/vipu-server.json"
    started = f"{program} --user-port {user} --admin-port {admin} --metrics-port {metrics}"
    service = f"[Service]\\nWorkingDirectory={folder}\\nExecStart={started}\\n"
    install = "[Install]\\nWantedBy=multi-user.target\\n"
    server.sh(
        f"set -e; mkdir -p {folder}; cd {folder}; {program} --init;"
        f"printf '{service}{install}' > /etc/systemd/system/{unit};"
        f"systemctl daemon-reload; systemctl --quiet enable --now {unit}"
    )
    server.until(f"vipu-admin -P {admin} list agents")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContainerServer]:
    with controller_host(tmp_path_factory.mktemp("host")) as host:
        start_controller(host, "", (8090, 8091, 2112))
        start_controller(host, "-alice", (10404, 10405, 10406))
        for words in (
            f"create agent {MACHINE} --host {MACHINES[MACHINE]} --port 8080",
            f"create cluster c --agents {MACHINE}",
            "create allocation alice --cluster c --size 4",
            "create partition train --allocation alice --size 4",
        ):
            host.sh(f"vipu-admin {words}")
        host.sh(f"mkdir -p -m 0700 {Path(KEY).parent}; echo s3cret > {KEY}")
        yield host


def looks(server: ContainerServer) -> list[dict[str, Any]]:
    """The answers of a dry run and a real one."""
    play = {"hosts": "all", "gather_facts": False, "tasks": [{"ipu.pod.host_look": OPTIONS}]}
    found = []
    for check in (True, False):
        document = end_of(begin_play(server.folder / "play", [server], [play], check=check))
        (result,) = document["plays"][0]["tasks"][0]["hosts"].values()
        assert not result["changed"], result
        found.append(result["parts"])
    return found


def test_every_part_answers_and_a_dry_run_sees_the_same(server: ContainerServer) -> None:
    predicted, parts = looks(server)
    assert {name: part["message"] for name, part in parts.items() if "message" in part} == {}
    for part in set(PARTS) - {"links", "things"}:
        assert predicted[part] == parts[part]
    assert predicted["things"]["paths"] == parts["things"]["paths"]

    survey, settings = rnic_server_from(parts["links"]), roce_server_from(parts["roce"]["server"])
    assert {"rnic0", "rnic1", "eth0"} <= survey.links.keys()
    assert (survey.default_devices, survey.ssh_addresses) == ({"eth0"}, {server.address})
    assert {"rnic0", "rnic1"} <= settings.interfaces.keys()
    assert uses_from(parts["uses"]).queue_pairs == ()
    _check_things(parts["things"])
    _check_controllers(parts["controllers"])


def _check_things(things: dict[str, Any]) -> None:
    assert {path: seen["kind"] for path, seen in things["paths"].items()} == {
        "/var/lib/vipu": "directory",
        "/etc/systemd/system/vipu-server.service": "file",
        "/etc/systemd/system/vipu-server-alice.service": "file",
    }
    units = things["units"]
    assert {name: (unit["there"], unit["active"], unit["enabled"]) for name, unit in units.items()} == {
        "vipu-server.service": (True, "active", True),
        "vipu-server-alice.service": (True, "active", True),
        "no-such-unit.service": (False, "inactive", False),
    }
    # Its file was written before it was started, within the same second.
    written = things["paths"]["/etc/systemd/system/vipu-server.service"]["modified"]
    assert written < units["vipu-server.service"]["started_at"] < written + 60
    assert units["no-such-unit.service"]["started"] is None
    assert things["texts"] == {"/etc/hostname": "poplar1"}
    packages = things["packages"]
    assert (packages["os_family"], packages["distribution"]) == ("Debian", "Debian")
    assert (packages["missing"], packages["unknown"]) == (["no-such-package"], False)
    assert things["kernel_parameters"].keys() == {"net.ipv4.ip_forward"}
    assert things["secrets"] == {
        KEY: {"text": "(secret)", "secret": hmac.new(b"of the run", b"s3cret", "sha256").hexdigest()}
    }


def _check_controllers(controllers: dict[str, Any]) -> None:
    shared, alice = controllers[""], controllers["alice"]
    assert (shared["storage"], shared["secure"], shared["admin_port"]) == (True, False, 8091)
    assert (alice["storage"], alice["secure"], alice["admin_port"]) == (True, False, 10405)
    assert shared["allocations"]["alice"]["agents"] == [MACHINE]
    assert shared["partitions"]["train"]["size"] == 4
    assert alice["partitions"] == {}
    assert shared["ipuof_configurations"].keys() == {"train"}
    [configuration] = shared["ipuof_configurations"]["train"]
    assert configuration.keys() == {"devices", "attributes"}


def test_a_controller_that_does_not_answer_is_reported_in_one_line(server: ContainerServer) -> None:
    server.sh("systemctl stop vipu-server.service")
    try:
        _predicted, parts = looks(server)
    finally:
        server.sh("systemctl start vipu-server.service")
    assert "\n" not in parts["controllers"][""]["message"]
    assert "message" not in parts["controllers"]["alice"]
    assert parts["things"]["units"]["vipu-server.service"]["active"] == "inactive"
