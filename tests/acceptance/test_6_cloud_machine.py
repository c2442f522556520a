# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cloud's virtual machine from the image that podsim makes, without a cloud: what a tenant finds, and hot plug.

It has the processor, the buses and the config drive that Nova gives its machines where it has no KVM.
"""

from __future__ import annotations

import json
import shlex
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.user_data import secret_sources, user_data
from tests.support.checkout import PROGRAMS, ROOT
from tests.support.qmp import qmp
from tests.support.simulated_pod import podsim

CONTROL_MAC, RNIC_MAC = "fa:16:3e:00:00:01", "fa:16:3e:00:00:02"
# What Neutron says of a network with DHCP, and of one without.
NETWORK = {
    "links": [
        {"id": "tap1", "vif_id": "1", "type": "ovs", "mtu": 1450, "ethernet_mac_address": CONTROL_MAC},
        {"id": "tap2", "vif_id": "2", "type": "ovs", "mtu": 9000, "ethernet_mac_address": RNIC_MAC},
    ],
    "networks": [
        {"id": "network0", "type": "ipv4_dhcp", "link": "tap1", "network_id": "control"},
        {
            "id": "network1",
            "type": "ipv4",
            "link": "tap2",
            "network_id": "vpod-alice-rnic",
            "ip_address": "10.5.1.193",
            "netmask": "255.255.0.0",
            "routes": [],
            "services": [],
        },
    ],
    "services": [],
}
CLIENT = {"controller": "ctrl001", "dedicated": None, "api_host": "10.3.1.200", "api_port": 8090, "user": "alice"}
TRAIN = {"name": "alice-train", "api_host": "10.3.1.200"}
SECRET = "PhaiH6ohShah0aeThe6a"
PATIENCE = 180


@dataclass(frozen=True)
class CloudMachine:
    """A running one.

    Args:
        directory: its files on this host.
        port: where its sshd is reached.
        process: QEMU.
    """

    directory: Path
    port: int
    process: subprocess.Popen[bytes]

    def inside(self, command: str, text: str = "") -> str:
        """The output of a command of the image's user."""
        return subprocess.run(self._ssh(command), input=text, capture_output=True, text=True, check=True).stdout

    def wait_for_login(self) -> None:
        """Wait until it lets its owner in and cloud-init has done all that it does."""
        until = f'until "$@"; do kill -0 {self.process.pid} && sleep 0.5 || exit 1; done'
        done = subprocess.run(
            ["sh", "-c", until, "sh", *self._ssh("cloud-init status --wait")],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert "status: done" in done.stdout, self.console()

    def plug(self, command: str, until: str = "", **arguments: Any) -> None:
        """Plug something in or out."""
        qmp(self.directory / "qmp", command, until, **arguments)

    def console(self) -> str:
        """What it has said on its serial console."""
        return (self.directory / "console").read_text(errors="replace")

    def _ssh(self, command: str) -> list[str]:
        options = {
            "StrictHostKeyChecking": "no",
            "UserKnownHostsFile": "/dev/null",
            "LogLevel": "ERROR",
            "ConnectTimeout": "5",
            "ControlPath": self.directory / "ssh",
            "ControlMaster": "auto",
            "ControlPersist": str(PATIENCE),
        }
        settings = [f"-o{name}={value}" for name, value in options.items()]
        return ["ssh", *settings, "-i", str(self.directory / "key"), f"-p{self.port}", "debian@127.0.0.1", command]


@pytest.fixture(scope="module", name="machine")
def _machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CloudMachine]:
    podsim("prerequisites", "--install", "--virtual-machines", "--clouds", may_be_unavailable=True)
    made = subprocess.run([f"{PROGRAMS}/podsim", "guest-image"], stdout=subprocess.PIPE, text=True, check=True)
    directory = tmp_path_factory.mktemp("cloud-machine")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(directory / "key")], check=True)
    _write_config_drive(directory)
    for disk, size, backing in (("disk", "20G", ("-F", "qcow2", "-b", made.stdout.strip())), ("volume", "1G", ())):
        subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", *backing, str(directory / disk), size], check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(_launch_command(directory, port))
    machine = CloudMachine(directory, port, process)
    try:
        machine.wait_for_login()
        yield machine
    finally:
        process.kill()
        process.wait()


def _write_config_drive(directory: Path) -> None:
    latest = directory / "drive" / "openstack" / "latest"
    latest.mkdir(parents=True)
    metadata = {
        "uuid": "5f2ae9a6-25b5-4a43-a2d5-4d7a4b0b9f2e",
        "name": "alice-1",
        "hostname": "alice-1",
        "public_keys": {"alice": (directory / "key.pub").read_text()},
    }
    defaults = yaml.safe_load((ROOT / "roles" / "vpod" / "defaults" / "main.yml").read_text())
    settings = {
        **defaults,
        "vpod_vipu": CLIENT,
        "vpod_partitions": [TRAIN],
        "vpod_owner": "debian",
        "vpod_group": "debian",
    }
    secrets = {path: f"{SECRET} of {path}\n" for path in secret_sources(settings)}
    (latest / "meta_data.json").write_text(json.dumps(metadata))
    (latest / "network_data.json").write_text(json.dumps(NETWORK))
    (latest / "user_data").write_text(user_data(settings, secrets))
    image = ["-V", "config-2", "-r", "-J", "-o", str(directory / "drive.iso"), str(directory / "drive")]
    subprocess.run(["genisoimage", "-quiet", *image], check=True)


def _launch_command(directory: Path, port: int) -> list[str]:
    return [
        *("qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-m", "512M"),
        *("-machine", "pc", "-accel", "tcg,tb-size=128", "-cpu", "qemu64", "-device", "virtio-rng-pci"),
        *("-drive", f"file={directory}/disk,format=qcow2,if=virtio,cache=unsafe"),
        *("-drive", f"file={directory}/drive.iso,format=raw,if=ide,media=cdrom"),
        *("-netdev", f"user,id=control,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22"),
        *("-device", f"virtio-net-pci,netdev=control,mac={CONTROL_MAC}"),
        *("-netdev", "hubport,id=rnic,hubid=1"),
        *("-device", f"virtio-net-pci,netdev=rnic,mac={RNIC_MAC},host_mtu=9000"),
        *("-serial", f"file:{directory}/console", "-qmp", f"unix:{directory}/qmp,server=on,wait=off"),
    ]


def test_it_has_the_name_and_the_programs_of_a_tenants_machine(machine: CloudMachine) -> None:
    assert machine.inside("hostname; vipu --version; systemctl is-system-running") == (
        "alice-1\nversion: 1.18.0\nrunning\n"
    )


def test_its_networks_are_as_the_cloud_says_by_mac(machine: CloudMachine) -> None:
    links = {link["address"]: link for link in json.loads(machine.inside("ip -json address show"))}
    rnic = links[RNIC_MAC]
    addresses = [f"{info['local']}/{info['prefixlen']}" for info in rnic["addr_info"] if info["family"] == "inet"]
    assert (rnic["mtu"], addresses) == (9000, ["10.5.1.193/16"])
    assert links[CONTROL_MAC]["mtu"] == 1450


def test_its_user_and_root_alone_read_the_credentials(machine: CloudMachine) -> None:
    found = machine.inside("find /etc/vipu -type f -exec stat -c '%n %U %a' {} + | sort")
    assert found.splitlines() == [
        "/etc/vipu/certs/ca.crt debian 600",
        "/etc/vipu/certs/tls.crt debian 600",
        "/etc/vipu/certs/tls.key debian 600",
        "/etc/vipu/vipu-cli.hcl debian 600",
    ]
    assert f'api-access-key="{SECRET} of ' in machine.inside("cat /etc/vipu/vipu-cli.hcl")


def test_what_cloud_init_keeps_of_them_is_roots(machine: CloudMachine) -> None:
    # By its input: a command's own words would be in the log of sudo.
    kept = machine.inside("sudo grep -rlf - /var/lib/cloud /run /tmp /home | sudo xargs stat -c '%U %A'", SECRET)
    assert {(line.split()[0], line[-6:]) for line in kept.splitlines()} == {("root", "------")}


def test_they_are_in_no_log(machine: CloudMachine) -> None:
    assert machine.inside("sudo grep -rlf - /var/log || true", SECRET) == ""
    assert SECRET not in machine.inside("sudo journalctl")
    assert SECRET not in machine.console()


def test_programs_find_their_partition_at_login(machine: CloudMachine) -> None:
    assert machine.inside("bash -lc 'echo $IPUOF_VIPU_API_PARTITION_ID'") == "alice-train\n"


def test_a_volume_that_is_plugged_in_again_has_its_data(machine: CloudMachine) -> None:
    def plugged_in_and_out(command: str) -> str:
        file = {"driver": "file", "filename": str(machine.directory / "volume")}
        machine.plug("blockdev-add", driver="qcow2", file=file, **{"node-name": "volume"})
        machine.plug("device_add", driver="virtio-blk-pci", drive="volume", id="volume")
        waiting = f"timeout {PATIENCE} sh -c 'until [ -b /dev/vdb ]; do sleep 0.1; done'"
        output = machine.inside(f"set -e; {waiting}; {command}; sudo umount /mnt")
        machine.plug("device_del", until="DEVICE_DELETED", id="volume")
        machine.plug("blockdev-del", **{"node-name": "volume"})
        machine.inside("[ ! -e /dev/vdb ]")
        return output

    plugged_in_and_out("sudo mkfs.ext4 -q /dev/vdb; sudo mount /dev/vdb /mnt; echo kept | sudo tee /mnt/data")
    assert plugged_in_and_out("sudo mount /dev/vdb /mnt; cat /mnt/data") == "kept\n"


def test_a_port_is_plugged_in_and_out_as_it_runs(machine: CloudMachine) -> None:
    mac = "fa:16:3e:00:00:03"
    seen = f"ip -o link | grep -q {mac}"
    machine.plug("netdev_add", type="hubport", id="new", hubid=2)
    machine.plug("device_add", driver="virtio-net-pci", netdev="new", mac=mac, id="new")
    machine.inside(f"timeout {PATIENCE} sh -c {shlex.quote(f'until {seen}; do sleep 0.1; done')}")
    machine.plug("device_del", until="DEVICE_DELETED", id="new")
    machine.inside(f"! {seen}")


def test_it_ends_when_its_power_button_is_pressed(machine: CloudMachine) -> None:
    machine.plug("system_powerdown")
    assert machine.process.wait(PATIENCE) == 0
