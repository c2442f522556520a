# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command that certifies more addresses of a secure controller, on one that runs and holds a partition."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template

from ansible_collections.ipu.pod.plugins.module_utils._vipu.dialect import ADMIN
from tests.contract.test_vipu_transports import Installation, create
from tests.support.checkout import PROGRAMS, ROOT
from tests.support.loopback import HOST, started
from tests.support.processes import end
from tests.support.simulated_controller import agent_processes

TASKS = ROOT / "roles" / "vipu_controller" / "tasks" / "service.yml"
ELSEWHERE, MORE = "127.1.2.3", "127.1.2.4"


class Secure(Installation):
    """A secure controller on all addresses of this host."""

    def start(self) -> None:
        ports = ["--user-port", str(self.user_port), "--admin-port", str(self.admin_port), "--metrics-port", "0"]
        server = [f"{PROGRAMS}/vipu-server", "--secure", "--creation-time", "0.05", *ports]
        self.process = started(server, self.directory, self.admin_port)

    def stop(self) -> None:
        end(self.process)

    def certify(self, *addresses: str) -> None:
        """What the role does where it has not been done."""
        [task] = [each for each in yaml.safe_load(TASKS.read_text()) if each["name"].startswith("Certify the")]
        certificates = self.directory / "vipu-certs"
        variables = {
            "vipu_controller_directory": str(self.directory),
            "vipu_controller_service": "vipu-server.service",
            "vipu_controller_certified": str(certificates / f"{'_'.join(addresses)}.crt"),
            "vipu_controller_keep_certificates": "",
            "addresses": "".join(f",IP:{address}" for address in addresses),
        }
        templar = Templar(DataLoader(), variables=variables)
        command = templar.template(trust_as_template(task["ansible.builtin.shell"]["cmd"]))
        subprocess.run(["bash", "-c", command], check=True, capture_output=True, text=True)

    def partitions(self, address: str) -> subprocess.CompletedProcess[str]:
        """What a client is told who reaches the controller by an address."""
        words = ["--api-user-id", self.administrator.user_id, "--api-access-key", self.administrator.access_key]
        where = ["-H", address, "-P", str(self.admin_port), "--tls-certs", self.certificates, *words]
        return subprocess.run(
            [f"{PROGRAMS}/vipu-admin", *where, "list", "partitions"], capture_output=True, text=True, check=False
        )

    def texts(self) -> dict[str, Any]:
        return {path.name: path.read_text() for path in (self.directory / "vipu-certs" / "client").iterdir()}


@pytest.fixture(name="controller")
def _controller(tmp_path: Path) -> Iterator[Secure]:
    found = Secure(tmp_path, secure=True)
    with agent_processes(["a1"], tmp_path) as [port]:
        found.start()
        admin = found.program(ADMIN, found.administrator)
        admin.carry_out(create("agent", "a1", host=HOST, port=port))
        admin.carry_out(create("cluster", "c", agents=["a1"], topology="mesh", ipu_link_domains=1))
        admin.carry_out(create("allocation", "alice", cluster="c", size=4, agents=["a1"]))
        admin.carry_out(create("partition", "train", allocation="alice", size=4))
        yield found
        found.stop()


def test_clients_reach_it_by_that_address_and_by_those_before_and_its_partitions_stay(controller: Secure) -> None:
    assert "train" in controller.partitions(HOST).stdout
    assert controller.partitions(ELSEWHERE).returncode != 0
    before = controller.texts()
    controller.certify(ELSEWHERE)
    controller.stop()
    controller.start()
    for address in (HOST, ELSEWHERE):
        assert "train" in controller.partitions(address).stdout
    # A client proves itself with what it has.
    after = controller.texts()
    assert {name for name, text in after.items() if text != before[name]} == {"ca.crt"}
    assert after["ca.crt"].endswith(before["ca.crt"])


def test_one_more_address_later_changes_nothing_for_clients(controller: Secure) -> None:
    controller.certify(ELSEWHERE)
    before = controller.texts()
    controller.certify(ELSEWHERE, MORE)
    assert controller.texts() == before
    controller.stop()
    controller.start()
    for address in (HOST, ELSEWHERE, MORE):
        assert "train" in controller.partitions(address).stdout


def test_only_its_owner_reads_the_key_of_the_authority(controller: Secure) -> None:
    controller.certify(ELSEWHERE)
    key = controller.directory / "authority" / "ca.key"
    assert "PRIVATE KEY" in key.read_text()
    assert (key.parent.stat().st_mode & 0o777, key.stat().st_mode & 0o777) == (0o700, 0o600)
