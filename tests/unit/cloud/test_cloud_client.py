# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How services are asked: pages, errors as one sentence, and how many requests a look takes."""

from __future__ import annotations

import json
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._cloud import client
from ansible_collections.ipu.pod.plugins.module_utils._cloud.client import Cloud, connect, side_by_side
from ansible_collections.ipu.pod.plugins.module_utils._cloud.look import REQUESTS, REQUESTS_FOR, look_at_cloud
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from tests.unit.cloud.services import Connection, cloud_with


def refused(connection: Connection, path: str = "/servers") -> str:
    with pytest.raises(DeviceError) as error:
        Cloud(connection, "cloud001").get("compute", path)
    return str(error.value)


@pytest.mark.parametrize("vpods", [1, 8])
def test_a_look_takes_as_many_requests_whatever_the_lists_hold(vpods: int) -> None:
    connection = cloud_with(vpods)
    look = look_at_cloud(Cloud(connection, "cloud001"))
    expected = REQUESTS + vpods * (REQUESTS_FOR["project"] + REQUESTS_FOR["flavor"]) + REQUESTS_FOR["hypervisor"]
    assert look["requests"] == len(connection.asked) == expected
    assert len(look["servers"]) == 10 * vpods
    assert len(set(connection.asked)) == expected


def test_a_look_says_whose_things_are_and_what_they_are() -> None:
    look = look_at_cloud(Cloud(cloud_with(1), "cloud001"))
    assert look["operator"] == {"user": "admin", "user_id": "u-admin", "project": "admin", "project_id": "p-admin"}
    assert look["networks"] == [
        {
            "id": "n-0",
            "name": "vpod-0-rnic",
            "project_id": "p-admin",
            "project": "admin",
            "vpod": "0",
            "tagged": True,
            "physical_network": "rnic",
            "vlan": 200,
            "mtu": 9000,
            "port_security": False,
            "shared": False,
            "projects": ["0"],
        }
    ]
    assert look["quotas"] == [
        {"id": "p-0", "project": "0", "project_id": "p-0", "instances": 4, "cores": 8, "ram": 1024, "volumes": 3}
    ]
    assert look["flavors"][0]["projects"] == ["0"]
    assert look["traits"] == [{"id": "CUSTOM_IPU_POD_0", "name": "CUSTOM_IPU_POD_0", "hypervisors": ["pod001-poplar3"]}]
    assert look["hypervisors"][0]["agents"] == [
        {"binary": "neutron-openvswitch-agent", "alive": True, "mappings": {"rnic": "br-rnic"}}
    ]
    assert look["hypervisors"][0]["resources"] == {
        "VCPU": {"largest": 64, "free": 100},
        "DISK_GB": {"largest": 100, "free": 100},
    }
    assert look["default_quota"] == {"instances": 10, "cores": 20, "volumes": 10}
    assert look["vlan_ranges"] == {}


def test_a_look_has_no_secret() -> None:
    assert "hunter2" not in json.dumps(look_at_cloud(Cloud(cloud_with(2), "cloud001")))


def test_a_list_is_read_page_by_page() -> None:
    connection = Connection(
        {
            "/servers": {
                "servers": [{"id": "a"}],
                "servers_links": [{"rel": "next", "href": "http://cloud/v2.1/servers?marker=a&limit=1"}],
            },
            "/servers?marker=a&limit=1": {"servers": [{"id": "b"}]},
        }
    )
    assert Cloud(connection, "cloud001").list("compute", "/servers", "servers") == [{"id": "a"}, {"id": "b"}]


def test_an_answer_without_the_list_is_an_error_and_no_empty_list() -> None:
    with pytest.raises(DeviceError, match="the answer of Nova to /servers has no list servers; see what answers"):
        Cloud(Connection({"/servers": {"flavors": []}}), "cloud001").list("compute", "/servers", "servers")


@pytest.mark.parametrize(
    ("status", "body", "sentence"),
    [
        (
            401,
            {"error": {"message": "expired"}},
            "Nova answered 401 when asked to read servers: expired; the credentials",
        ),
        (
            403,
            {"forbidden": {"message": "Quota exceeded for cores"}},
            "Quota exceeded for cores; raise the quota of the",
        ),
        (403, {"forbidden": {"message": "Policy doesn't allow it"}}, "the operator's user may not do that; give it"),
        (409, {"NeutronError": {"message": "Vlan in use.", "detail": ""}}, "Vlan in use; something else is in the way"),
        (413, {}, "Nova answered 413 when asked to read servers; the service takes no more for now; run again later"),
        (
            503,
            "<html><h1>Service Unavailable</h1></html>",
            "Service Unavailable; the service, or what it needs, is down",
        ),
        (500, "", "Nova answered 500 when asked to read servers; see the log of the service"),
    ],
)
def test_an_answer_that_is_an_error_is_one_sentence(status: int, body: Any, sentence: str) -> None:
    said = refused(Connection({"/servers": (status, body)}))
    assert said.startswith("cloud cloud001: Nova answered ")
    assert sentence in said


def test_a_service_that_does_not_answer_is_named() -> None:
    error = client.ClientException("Unable to establish connection to http://10.0.0.1:8774: HTTPConnectionPool(...)")
    assert refused(Connection({"/servers": error})) == (
        "cloud cloud001: Nova does not answer when asked to read servers (Unable to establish connection to "
        "http://10.0.0.1:8774); start it, or correct its endpoint"
    )


def test_each_service_that_is_down_is_named_once() -> None:
    connection = Connection({path: (503, {}) for path in ("/networks", "/ports", "/servers")})
    cloud = Cloud(connection, "cloud001")
    asked = (("network", "/networks"), ("network", "/ports"), ("compute", "/servers"))
    with pytest.raises(DeviceError) as error:
        side_by_side([partial(cloud.get, *each) for each in asked])
    assert str(error.value) == (
        "cloud cloud001: Neutron answered 503 when asked to read networks; the service, or what it needs, is down; "
        "start it, and run again; cloud cloud001: Nova answered 503 when asked to read servers; the service, or what "
        "it needs, is down; start it, and run again"
    )


def test_an_error_of_the_program_is_not_taken_for_one_of_a_service() -> None:
    with pytest.raises(ZeroDivisionError):
        side_by_side([lambda: 1 // 0])


@pytest.mark.parametrize(("release", "found"), [("", "not installed"), ("4.8.0", "4.8.0"), ("3.3.0", "3.3.0")])
def test_a_missing_sdk_or_another_release_is_said_with_the_command(
    release: str, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "RELEASE", release)
    with pytest.raises(DeviceError) as error:
        connect("cloud001")
    assert str(error.value) == (
        f"the Python package openstacksdk is {found}, and clouds need 4.4 to 4.7: pip install 'openstacksdk>=4.4,<4.8'"
    )


def test_an_entry_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(DeviceError, match=r"^cloud nowhere: .*not found; correct its entry in clouds.yaml$"):
        connect("nowhere")


def test_a_clouds_yaml_that_a_task_would_not_find_is_refused_by_the_look(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    # It is there from the folder in which a person typed this, where the look works, and no task does.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clouds.yaml").write_text('{"clouds": {"cloud001": {"auth_type": "none"}}}')
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", "clouds.yaml")
    with pytest.raises(DeviceError) as error:
        connect("cloud001")
    assert str(error.value) == (
        "cloud cloud001: OS_CLIENT_CONFIG_FILE is clouds.yaml; give its whole path, which begins with /"
    )


def test_a_clouds_yaml_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    file = tmp_path / "clouds.yaml"
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(file))
    with pytest.raises(DeviceError) as error:
        connect("cloud001")
    assert str(error.value) == f"cloud cloud001: OS_CLIENT_CONFIG_FILE is {file}, which is not there; correct it"


def test_a_token_of_a_project_is_asked_for_once() -> None:
    connection = Connection({})
    cloud = Cloud(connection, "cloud001")
    assert cloud.as_project("p-admin") is cloud
    assert cloud.as_project("p-0") is cloud.as_project("p-0")
    assert connection.projects == [{"id": "p-0"}]
    assert isinstance(connection.session, SimpleNamespace)
