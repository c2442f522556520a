# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is sent to a cloud for the steps of a plan: marked from the first moment, in the right project, waited for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._cloud import apply as applying
from ansible_collections.ipu.pod.plugins.module_utils._cloud.apply import Applier
from ansible_collections.ipu.pod.plugins.module_utils._cloud.client import Cloud
from ansible_collections.ipu.pod.plugins.module_utils._cloud.engine import with_checksums
from ansible_collections.ipu.pod.plugins.module_utils._cloud.found import Found
from ansible_collections.ipu.pod.plugins.module_utils._cloud.planner import plan
from ansible_collections.ipu.pod.plugins.module_utils._cloud.wanted import wanted
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused
from tests.support.in_memory.cloud import bare_look, port
from tests.support.in_memory.cloud import server as own_server
from tests.support.in_memory.cloud_of_alice import options, with_alice
from tests.unit.cloud.services import Connection

MARK = "ipu.pod:vpod=alice"
HOST = "/resource_providers/rp/traits"


def volume(status: str) -> dict[str, Any]:
    return {"volume": {"id": "V", "status": status}}


def server(status: str, **fields: Any) -> dict[str, Any]:
    return {"server": {"id": "S", "status": status, **fields}}


def answers(**more: Any) -> dict[str, Any]:
    made = {"project": "P", "network": "N", "subnet": "SN", "security_group": "SG", "flavor": "F", "port": "PO"}
    paths = {"security_group": "/security-groups"}
    return {
        **{f"POST {paths.get(kind, f'/{kind}s')}": {kind: {"id": each}} for kind, each in made.items()},
        **{f"PUT {path}/tags": {} for path in ("/networks/N", "/subnets/SN", "/security-groups/SG", "/ports/PO")},
        "PUT /projects/P/users/u-ann/roles/r-member": {},
        "PUT /projects/P/users/u-admin/roles/r-member": {},
        "PUT /os-quota-sets/P": {},
        "POST /rbac-policies": {},
        "POST /security-group-rules": {},
        "POST /flavors/F/action": {},
        "PUT /traits/CUSTOM_IPU_POD_ALICE": {},
        f"PUT {HOST}": {},
        HOST: {"traits": ["HW_CPU_X86_VMX"], "resource_provider_generation": 7},
        "POST /images": {"id": "I"},
        "PUT /images/I/file": {},
        "POST /os-keypairs": {},
        "POST /volumes": volume("creating"),
        "/volumes/V": [volume("creating"), volume("available"), volume("in-use")],
        "POST /servers": server("BUILD"),
        "/servers/S": [server("BUILD"), server("ACTIVE")],
        "POST /servers/S/os-volume_attachments": {},
        **more,
    }


def applier(desired: dict[str, Any], look: dict[str, Any], connection: Connection, wait: float = 60) -> Applier:
    look = {**look, "providers": [{"id": "rp", "name": "pod001-poplar3"}]}
    look["domains"] = [{"id": "default", "name": "Default"}]
    return Applier(Cloud(connection, "cloud001"), desired, Found(desired, look, wanted(desired, look)), wait, {})


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(applying, "LOOK_AGAIN", 0)


@pytest.fixture
def desired(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "image").write_bytes(b"data")
    image = {"name": "poplar", "file": str(tmp_path / "image"), "disk_format": "qcow2"}
    return dict(with_checksums(options(images=[image])))


def carry_out(desired: dict[str, Any], connection: Connection) -> list[tuple[str, Any]]:
    work = applier(desired, bare_look(), connection)
    for step in plan(desired, bare_look()):
        work.carry_out(step)
    return connection.sent


def test_a_vpod_is_made_with_its_mark_and_in_its_project(desired: dict[str, Any]) -> None:
    sent = dict(carry_out(desired, Connection(answers())))
    assert sent["POST /projects"]["project"]["tags"] == ["ipu.pod", MARK]
    for path, kind in (("/networks", "network"), ("/subnets", "subnet"), ("/security-groups", "security_group")):
        assert sent[f"POST {path}"][kind]["description"] == MARK
    assert sent["POST /flavors"]["flavor"]["description"] == MARK
    assert sent["POST /ports"]["port"]["description"] == MARK
    assert sent["POST /ports"]["port"]["project_id"] == "P"
    assert sent["POST /volumes"]["volume"]["metadata"] == {"ipu.pod:vpod": "alice"}
    assert sent["POST /servers"]["server"]["metadata"] == {"ipu.pod:vpod": "alice"}


def test_the_rnic_network_is_a_vlan_without_port_security_that_the_project_may_use(desired: dict[str, Any]) -> None:
    sent = dict(carry_out(desired, Connection(answers())))
    assert sent["POST /networks"]["network"] == {
        "name": "vpod-alice-rnic",
        "description": MARK,
        "port_security_enabled": False,
        "mtu": 1500,
        "provider:network_type": "vlan",
        "provider:physical_network": "rnic",
        "provider:segmentation_id": 201,
    }
    assert sent["POST /rbac-policies"]["rbac_policy"] == {
        "object_type": "network",
        "object_id": "N",
        "action": "access_as_shared",
        "target_tenant": "P",
    }
    subnet = sent["POST /subnets"]["subnet"]
    assert (subnet["enable_dhcp"], subnet["gateway_ip"], subnet["ip_version"]) == (False, None, 4)
    assert subnet["allocation_pools"] == [{"start": "10.5.1.192", "end": "10.5.1.223"}]


def test_a_trait_is_added_to_those_that_a_hypervisor_has(desired: dict[str, Any]) -> None:
    sent = dict(carry_out(desired, Connection(answers())))
    assert sent[f"PUT {HOST}"] == {
        "traits": ["CUSTOM_IPU_POD_ALICE", "HW_CPU_X86_VMX"],
        "resource_provider_generation": 7,
    }


def test_a_hypervisor_that_placement_does_not_know_is_said(desired: dict[str, Any]) -> None:
    look = bare_look()
    other = {**desired, "traits": [{**desired["traits"][0], "hypervisors": ["pod001-poplar4"]}]}
    work = applier(other, look, Connection(answers()))
    step = next(each for each in plan(other, look) if each.kind == "trait")
    with pytest.raises(
        DeviceError, match=r"^trait CUSTOM_IPU_POD_ALICE: Placement has no resource provider pod001-pop"
    ):
        work.carry_out(step)


def test_volumes_and_machines_are_made_with_a_token_of_their_project(desired: dict[str, Any]) -> None:
    connection = Connection(answers())
    carry_out(desired, connection)
    assert connection.projects == [{"id": "P"}]
    assert not any(path in ("compute /servers", "block_storage /volumes") for path in connection.asked)


def test_a_machine_in_error_is_said_with_the_words_of_nova(desired: dict[str, Any]) -> None:
    fault = server("ERROR", fault={"message": "No valid host was found. "})
    with pytest.raises(DeviceError) as error:
        carry_out(desired, Connection(answers(**{"/servers/S": fault})))
    assert str(error.value) == "server alice-1 is in ERROR: No valid host was found; put that right, and run again"


def test_a_volume_that_cannot_be_made_is_said(desired: dict[str, Any]) -> None:
    with pytest.raises(DeviceError, match=r"^volume alice-1-data is in error; see the log of cinder-volume"):
        carry_out(desired, Connection(answers(**{"/volumes/V": volume("error")})))


def test_what_takes_too_long_is_said_with_its_state(desired: dict[str, Any]) -> None:
    work = applier(desired, bare_look(), Connection(answers(**{"/volumes/V": volume("creating")})), wait=0)
    steps = plan(desired, bare_look())
    for step in steps[:-2]:
        work.carry_out(step)
    with pytest.raises(DeviceError, match=r"^volume alice-1-data is still creating after 0 seconds; see the log"):
        work.carry_out(steps[-2])


def test_a_vpod_goes_with_the_default_security_group_of_its_project() -> None:
    cloud, desired = with_alice(), {"absent_vpods": ["alice"]}
    cloud.look["volumes"] = []
    found = {
        kind: next(each["id"] for each in cloud.look[f"{kind}s"] if each.get("vpod")) for kind in ("project", "server")
    }
    deleted = {f"DELETE {path}": {} for path in ("/traits/CUSTOM_IPU_POD_ALICE", "/security-groups/D")}
    connection = Connection(
        {
            **deleted,
            HOST: {"traits": ["CUSTOM_IPU_POD_ALICE", "HW_CPU_X86_VMX"], "resource_provider_generation": 8},
            f"PUT {HOST}": {},
            f"/servers/{found['server']}": [server("ACTIVE"), (404, {})],
            f"/security-groups?project_id={found['project']}": {"security_groups": [{"id": "D"}]},
        }
    )
    work = applier(desired, cloud.look, connection)
    for step in plan(desired, cloud.look, ("alice",)):
        work.carry_out(step)
    sent = [path for path, _body in connection.sent]
    assert sent[0] == f"DELETE /servers/{found['server']}"
    # The other way round a run that is killed between them would leave a group of no project.
    assert sent[-2:] == ["DELETE /security-groups/D", f"DELETE /projects/{found['project']}"]
    assert dict(connection.sent)[f"PUT {HOST}"]["traits"] == ["HW_CPU_X86_VMX"]


def test_an_image_that_is_half_there_is_removed_and_a_whole_one_hidden(desired: dict[str, Any]) -> None:
    for status, first in (("queued", "DELETE"), ("active", "PATCH")):
        look = with_alice().look
        next(each for each in look["images"] if each["name"] == "poplar").update(status=status, id="OLD")
        connection = Connection(answers(**{f"{first} /images/OLD": {}}))
        work = applier(desired, look, connection)
        [step] = [each for each in plan(desired, look) if each.kind == "image"]
        work.carry_out(step)
        assert [path for path, _body in connection.sent] == [
            f"{first} /images/OLD",
            "POST /images",
            "PUT /images/I/file",
        ]


def test_a_file_that_cannot_be_read_is_refused_before_anything_is_touched() -> None:
    with pytest.raises(Refused, match=r"^image poplar: /nowhere cannot be read \(No such file or directory\); correct"):
        with_checksums({"images": [{"name": "poplar", "file": "/nowhere"}]})


def test_what_went_meanwhile_is_said(desired: dict[str, Any]) -> None:
    look = with_alice().look
    look["volumes"] = []
    step = plan(desired, look)[-1]
    assert (step.action, step.kind) == ("update", "server")
    connection = Connection(answers(**{"/volumes/V": volume("available")}))
    with pytest.raises(DeviceError, match=r"^volume alice-1-data is not there any more; run again$"):
        applier(desired, look, connection).carry_out(step)


def test_the_port_of_a_tenants_machine_leaves_a_network_that_goes() -> None:
    cloud, desired = with_alice(), {"absent_vpods": ["alice"]}
    rnic = cloud.named("network", "vpod-alice-rnic")
    cloud.look["servers"] = [own_server("own", "p-alice", "alice", None)]
    cloud.look["ports"] = [port("own", "p-alice", None, rnic["id"], rnic["name"], "s-own", ["10.5.1.200"])]
    step = next(each for each in plan(desired, cloud.look, ("alice",)) if each.kind == "port")
    connection = Connection({"DELETE /ports/po-own": {}})
    applier(desired, cloud.look, connection).carry_out(step)
    assert connection.sent == [("DELETE /ports/po-own", None)]
