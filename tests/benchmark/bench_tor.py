# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""tor_switch against the resource modules of arista.eos, and how it grows with the number of switches.

The whole ToR of a POD64 (VLANs, 28 ports, the RoCE quality of service) is made on simulated switches over eAPI: by one
task with `ipu.pod.tor_switch`, and by a playbook with the modules that people use otherwise: the resource modules, and
for what has none (quality of service) `eos_config`, port by port. Both start fresh, and then run again with nothing to
do. Of that, a second or so is the start of `ansible-playbook`, on both sides.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from ansible_collections.ipu.pod.plugins.plugin_utils._desired.roce import REFERENCE
from tests.benchmark.measuring import figure
from tests.support.checkout import PROGRAMS, ROOT

USER, PASSWORD = "admin", "podsim"
TENANT, STORAGE = 101, 300
MACHINES, SERVERS, UPLINKS = range(9, 25), range(25, 33), range(1, 5)
MTU = 9214
VLANS = [{"vlan_id": TENANT, "name": "vpod-alice"}, {"vlan_id": STORAGE, "name": "storage"}]

# What `roce: reference` is, as a person types it.
QOS_LINES = {
    "": [
        "qos map dscp 26 to traffic-class 3",
        "qos map dscp 48 to traffic-class 6",
        "priority-flow-control pause watchdog default timeout 0.2",
        "priority-flow-control pause watchdog default recovery-time 0.2",
        "priority-flow-control pause watchdog default polling-interval 0.1",
        "priority-flow-control pause watchdog action drop",
    ],
    "qos profile ROCE": [
        "qos trust dscp",
        "priority-flow-control on",
        "priority-flow-control priority 3 no-drop",
        "priority-flow-control pause watchdog",
    ],
}

# Linear growth from 16 switches to 64 gives 1 or less (ansible-playbook starts once), quadratic growth 4. The rest is
# for the noise of a shared machine.
LINEAR = 1.5
FEW, MANY, FORKS = 16, 64, 10


def ports() -> list[dict[str, Any]]:
    """The 28 ports, as options of tor_switch."""
    roce = {"mtu": MTU, "qos_profile": "ROCE", "qos_trust": "dscp"}
    trunk = {"mode": "trunk", "native_vlan": TENANT, "allowed_vlans": [str(TENANT), str(STORAGE)], **roce}
    uplink = {"mode": "trunk", "allowed_vlans": [str(TENANT), str(STORAGE)], **roce}
    access = {"mode": "access", "vlan": TENANT, **roce}
    kinds = [(MACHINES, access, "machine"), (SERVERS, trunk, "server"), (UPLINKS, uplink, "uplink")]
    return [
        {"name": f"Ethernet{number}/1", "description": f"{what} {number}", **settings}
        for numbers, settings, what in kinds
        for number in numbers
    ]


def ours() -> list[dict[str, Any]]:
    """The task with ipu.pod.tor_switch."""
    return [{"name": "All at once", "ipu.pod.tor_switch": {"vlans": VLANS, "ports": ports(), "qos": REFERENCE}}]


def theirs() -> list[dict[str, Any]]:
    """The tasks with modules of arista.eos; quality of service has no resource module beyond raw lines."""
    interfaces = [{"name": p["name"], "description": p["description"], "mtu": p["mtu"]} for p in ports()]
    lines = [
        {"arista.eos.eos_config": {"lines": lines, **({"parents": [parent]} if parent else {})}}
        for parent, lines in QOS_LINES.items()
    ]
    queue = ["no priority", "bandwidth percent 95", "bandwidth guaranteed 100"]
    return [
        {"arista.eos.eos_vlans": {"config": VLANS, "state": "merged"}},
        {"arista.eos.eos_interfaces": {"config": interfaces, "state": "merged"}},
        {"arista.eos.eos_l2_interfaces": {"config": [_layer2(p) for p in ports()], "state": "merged"}},
        *lines,
        {"arista.eos.eos_config": {"lines": queue, "parents": ["qos profile ROCE", "uc-tx-queue 3"]}},
        {
            "arista.eos.eos_config": {
                "lines": ["service-profile ROCE", "qos trust dscp"],
                "parents": ["interface {{ item }}"],
            },
            "loop": [port["name"] for port in ports()],
        },
    ]


def _layer2(port: dict[str, Any]) -> dict[str, Any]:
    if port["mode"] == "access":
        # Said as a mode too, it would never be as wanted: EOS does not show what is its default.
        return {"name": port["name"], "access": {"vlan": port["vlan"]}}
    trunk = {"trunk_allowed_vlans": port["allowed_vlans"]}
    if "native_vlan" in port:
        trunk["native_vlan"] = port["native_vlan"]
    return {"name": port["name"], "mode": "trunk", "trunk": trunk}


class Hall:
    """Running switches and a directory for playbooks against them."""

    def __init__(self, directory: Path, addresses: dict[str, int]) -> None:
        self.directory = directory
        self.addresses = addresses

    def seconds(self, tasks: list[dict[str, Any]], names: list[str], changes: bool) -> float:
        """How long a playbook takes that has to change something on each of these switches, or nothing."""
        connection = {
            "ansible_host": "127.0.0.1",
            "ansible_connection": "ansible.netcommon.httpapi",
            "ansible_httpapi_port": "{{ addresses[inventory_hostname] }}",
            "ansible_network_os": "arista.eos.eos",
            "ansible_user": USER,
            "ansible_password": PASSWORD,
            "ansible_become": True,
            "ansible_become_method": "ansible.netcommon.enable",
            "ansible_python_interpreter": sys.executable,
            "addresses": self.addresses,
        }
        play = {"hosts": "all", "gather_facts": False, "vars": connection, "tasks": tasks}
        (self.directory / "play.yml").write_text(yaml.safe_dump([play]))
        hosts = ",".join([*names, ""])
        command = [f"{PROGRAMS}/ansible-playbook", "-i", hosts, "--forks", str(FORKS), "play.yml"]
        environment = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "HOME": str(self.directory)}
        # What has changed is counted in its recap.
        environment["ANSIBLE_STDOUT_CALLBACK"] = "ansible.builtin.default"
        start = time.monotonic()
        done = subprocess.run(command, cwd=self.directory, env=environment, capture_output=True, text=True, check=False)
        taken = time.monotonic() - start
        unchanged = done.stdout.count(" changed=0 ")
        if done.returncode != 0 or unchanged != (0 if changes else len(names)):
            raise RuntimeError(f"the playbook did not do what it was to do:\n{done.stdout}{done.stderr}")
        return taken

    def requests(self, name: str) -> int:
        """How often a switch was asked since the last call of this."""
        log = self.directory / f"{name}.requests"
        count = len(log.read_text().splitlines()) if log.exists() else 0
        log.unlink(missing_ok=True)
        return count


@contextlib.contextmanager
def hall(count: int, config: str | None = None) -> Iterator[Hall]:
    """That many switches on loopback, each with this configuration, or as it comes from the factory."""
    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        started = {}
        for number in range(count):
            name = f"tor{number:02}"
            if config is not None:
                (directory / f"{name}.config").write_text(config)
            files = ["--config", f"{name}.config", "--request-log", f"{name}.requests", "--hostname", name]
            command = [f"{PROGRAMS}/podsim", "eos", "--listen", "127.0.0.1:0", "--user", USER, "--password", PASSWORD]
            process = subprocess.Popen([*command, *files], cwd=directory, stdout=subprocess.PIPE, text=True)
            stack.callback(process.wait)
            stack.callback(process.terminate)
            started[name] = process
        yield Hall(directory, {name: _port_of(process) for name, process in started.items()})


def _port_of(process: subprocess.Popen[str]) -> int:
    assert process.stdout
    port = urlsplit(process.stdout.readline().split()[-1]).port
    assert port
    return port


def figures() -> list[dict[str, Any]]:
    """All figures of this file."""
    with hall(2) as here:
        here.seconds(ours(), ["tor00"], changes=True)
        fresh_requests = here.requests("tor00")
        again = min(here.seconds(ours(), ["tor00"], changes=False) for _ in range(2))
        again_requests = here.requests("tor00") / 2
        here.seconds(theirs(), ["tor01"], changes=True)
        theirs_again = here.seconds(theirs(), ["tor01"], changes=False)
        made = (here.directory / "tor00.config").read_text()
    with hall(MANY, made) as here:
        names = list(here.addresses)
        few = here.seconds(ours(), names[:FEW], changes=False)
        many = here.seconds(ours(), names, changes=False)
    return [
        figure("tor_switch: requests for a whole POD64 ToR, fresh", fresh_requests, 8),
        figure("tor_switch: requests for it unchanged", again_requests, 2),
        figure("tor_switch: unchanged, times faster than arista.eos modules", theirs_again / again, 5, at_least=True),
        figure(f"tor_switch: time, {MANY} switches over {MANY // FEW} times {FEW}", many * FEW / (few * MANY), LINEAR),
    ]


if __name__ == "__main__":
    print(json.dumps(figures()))
