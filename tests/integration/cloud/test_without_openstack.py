# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A libvirt domain that no OpenStack has made gets the IPUs of a vPOD and gives them back as it runs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from podsim.floor.guest_image import guest_image
from podsim.floor.state import StateDirectory
from tests.integration.cloud.test_tenants_of_a_cloud import Guest
from tests.integration.cloud.test_without_a_restart import begin_to_ping, reach_ipus, runs, started, unanswered
from tests.integration.conftest import Pod
from tests.support.simulated_pod import STATE

HYPERVISOR, NAME, ADDRESS, MAC = "pod001-poplar4", "build1", "10.6.2.1", "52:54:00:06:02:01"
WORDS = f"machine={HYPERVISOR}/{NAME} vpod=bob machine_address={ADDRESS} machine_user=debian"
# Where the hypervisor has the directory of the cloud's volumes.
FOLDER = "/srv/volumes"
DEFINITION = f"""
<domain type="qemu">
  <name>{NAME}</name><memory unit="MiB">512</memory><vcpu>1</vcpu>
  <os><type arch="x86_64" machine="pc">hvm</type></os>
  <features><acpi/></features>
  <devices>
    <disk type="file" device="disk">
      <driver name="qemu" type="qcow2"/><source file="{FOLDER}/{NAME}.qcow2"/><target dev="vda" bus="virtio"/>
    </disk>
    <disk type="file" device="cdrom">
      <source file="{FOLDER}/{NAME}.iso"/><target dev="hda" bus="ide"/><readonly/>
    </disk>
    <interface type="bridge">
      <mac address="{MAC}"/><source bridge="br-control"/><virtualport type="openvswitch"/>
      <target dev="tap{NAME}"/><model type="virtio"/>
    </interface>
  </devices>
</domain>
"""


@pytest.fixture(scope="module", name="domain")
def _domain(pod: Pod) -> Iterator[Guest]:
    """A domain that runs, with a NIC on the control network alone, as somebody makes it by hand."""
    volumes = StateDirectory(STATE).volumes("cloud001")
    shutil.copy(guest_image(), volumes / f"{NAME}.qcow2")
    (volumes / f"{NAME}.xml").write_text(DEFINITION)
    first_boot = volumes / NAME / "openstack" / "latest"
    first_boot.mkdir(parents=True)
    key, controller = (STATE / "id_ed25519.pub").read_text(), pod.sim["controllers"]["ctrl001"]["management"]
    for name, content in first_boot_data(key, controller, pod.sim["control"]["controllers"]["ctrl001"]).items():
        (first_boot / name).write_text(json.dumps(content))
    pod.inside(HYPERVISOR, f"genisoimage -quiet -J -r -V config-2 -o {FOLDER}/{NAME}.iso {FOLDER}/{NAME}")
    pod.inside(HYPERVISOR, f"virsh define {FOLDER}/{NAME}.xml && virsh start {NAME}")
    guest = Guest(ADDRESS)
    guest.wait_for_login()
    yield guest
    pod.inside(HYPERVISOR, f"virsh destroy {NAME} && virsh undefine {NAME}")


@pytest.fixture(scope="module", name="watched")
def _watched(pod: Pod, domain: Guest) -> str:
    """It pings the control node from before it gets anything; what tells one start of it from another."""
    begin_to_ping(domain, pod.sim["control"]["control_node"])
    return started(domain)


def first_boot_data(key: str, controller: str, way: str) -> dict[str, Any]:
    """What cloud-init finds on a config drive, by file; there is a way to the V-IPU controller, as a site has one."""
    network = {"id": "control", "link": "nic", "type": "ipv4", "ip_address": ADDRESS, "netmask": "255.255.0.0"}
    routes = [{"network": controller, "netmask": "255.255.255.255", "gateway": way}]
    return {
        "meta_data.json": {"uuid": NAME, "hostname": NAME, "public_keys": {"key": key}},
        "network_data.json": {
            "links": [{"id": "nic", "type": "phy", "ethernet_mac_address": MAC}],
            "networks": [{**network, "routes": routes}],
            "services": [],
        },
    }


def nics(pod: Pod, *how: str) -> int:
    """How many the domain has, as it runs or as it is defined."""
    return pod.inside(HYPERVISOR, " ".join(("virsh domiflist", *how, NAME))).count("virtio")


def test_a_domain_that_runs_gets_ipus(pod: Pod, domain: Guest, watched: str) -> None:
    assert watched
    assert runs(pod, "attach", "-e", WORDS) != []
    assert reach_ipus(pod, domain, "bob") == [True] * 4
    domain.said("sudo vipu create partition build1-1 --size 16")
    workload = domain.said("sudo sh -c 'IPUOF_VIPU_API_PARTITION_ID=build1-1 ipu-workload'")
    assert "to and from 4 IPU-Machines" in workload
    domain.said("sudo vipu remove partition build1-1")


def test_a_second_run_changes_nothing(pod: Pod) -> None:
    assert runs(pod, "attach", "-e", WORDS) == []
    assert (nics(pod), nics(pod, "--inactive")) == (2, 2)


def test_a_domain_that_runs_gives_ipus_back(pod: Pod, domain: Guest) -> None:
    assert runs(pod, "detach", "-e", WORDS) != []
    assert (nics(pod), nics(pod, "--inactive")) == (1, 1)
    assert domain.said("ls /etc/vipu/*.hcl 2>/dev/null || true") == ""


def test_nothing_was_restarted_and_no_packet_was_lost(domain: Guest, watched: str) -> None:
    assert (unanswered(domain), started(domain)) == ([], watched)
