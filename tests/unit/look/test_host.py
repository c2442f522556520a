# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A look at a server in memory: each part says what its module says, every program is run once, nothing is changed."""

from __future__ import annotations

import copy
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from ansible_collections.ipu.pod.plugins.module_utils._look.host import HostLook, looked
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused
from ansible_collections.ipu.pod.plugins.module_utils._rnic.plan import gathered, lasting
from ansible_collections.ipu.pod.plugins.module_utils._roce import plan as lossless
from ansible_collections.ipu.pod.plugins.module_utils._roce.client import RoceClient
from ansible_collections.ipu.pod.plugins.module_utils._roce.inspection import Inspection
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.typed_looks import (
    rnic_server_from,
    roce_server_from,
    uses_from,
)
from tests.support.in_memory.rnic_runs import (
    MANAGEMENT,
    changed,
    checkpoint_on,
    client_of,
    networkd_server,
    server_with,
)
from tests.support.in_memory.roce_server import PCI, RDMA_DEVICES, TinyRoceServer
from tests.support.in_memory.server import TinyServer

OPTIONS: dict[str, Any] = {
    "minimum_speed": 100_000,
    "minimum_firmware": "16.26.1040",
    "roce_tools": "auto",
    **dict.fromkeys(["paths", "texts", "units", "packages", "accounts", "kernel_parameters", "secrets"], ()),
    "run_key": None,
    "controllers": [],
    "dedicated_units": False,
    "ipuof_configurations": [],
}
OF_A_SERVER = ("links", "network", "uses", "roce", "nics", "use", "ipuof", "things")
JOB = {"ifname": "mlx5_0", "lqpn": 42, "type": "RC", "comm": "python3", "pid": 815}


def look_at(server: TinyServer, *parts: str, **options: Any) -> dict[str, Any]:
    look = HostLook(
        server.run,
        server.run,
        server.files,
        server.sysfs,
        MANAGEMENT,
        {**OPTIONS, **options},
        lambda: {"os_family": "Debian"},
    )
    found = looked({part: getattr(look, part) for part in parts})
    assert json.loads(json.dumps(found)) == found
    return found


def look_at_nics(server: TinyRoceServer, *parts: str) -> dict[str, Any]:
    """The programs of a NIC are those of the one server, the others those of the one that has its links."""
    server.links.sysfs.rdma, server.links.sysfs.pci = list(RDMA_DEVICES), dict(PCI)
    others = {"systemctl", "networkctl", "nmcli"}

    def run(argv: list[str]) -> tuple[int, str, str]:
        return (server.links if argv[0] in others else server).run(argv)

    sysfs = server.links.sysfs
    look = HostLook(run, run, server.files, sysfs, MANAGEMENT, OPTIONS, dict)
    found = looked({part: getattr(look, part) for part in parts})
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


@pytest.mark.parametrize("backend", ["networkd", "netplan", "networkmanager"])
def test_interfaces_are_what_the_module_gathers(backend: str) -> None:
    server = server_with(backend)
    server.nics["rnic0"].addresses = ["10.5.1.101/16"]
    survey = client_of(server).survey()
    found = look_at(server, "links", "network")
    assert rnic_server_from(found["links"]) == survey
    assert found["network"] == {
        "gathered": json.loads(json.dumps(gathered(survey))),
        "lasting": lasting(survey),
        "pending": False,
        "refusal": "",
        "undone": None,
        "unloaded": [],
    }


def test_a_change_that_waits_is_seen_and_what_undid_it() -> None:
    server = networkd_server()
    changed(server, [{"name": "rnic0", "mtu": 9000}])
    network = look_at(server, "network")["network"]
    assert network["pending"]
    with pytest.raises(Refused) as refused:
        checkpoint_on(server).refuse_pending()
    assert network["refusal"] == str(refused.value)
    server.pause(121)
    network = look_at(server, "network")["network"]
    assert (network["pending"], network["refusal"]) == (False, "")
    assert network["undone"]


def test_a_file_of_others_that_was_not_loaded_is_seen() -> None:
    server = networkd_server()
    path = "/etc/systemd/network/10-site.network"
    server.files.write(path, File("[Match]\nName=rnic1\n"))
    server.networkd.reload()
    assert look_at(server, "network")["network"]["unloaded"] == []
    server.files.write(path, File("[Match]\nName=rnic1\n[Link]\nMTUBytes=9000\n"))
    [problem] = look_at(server, "network")["network"]["unloaded"]
    assert f"rnic1: somebody edited {path}" in problem


def test_uses_are_those_of_all_interfaces() -> None:
    server = networkd_server()
    server.sysfs.rdma, server.queue_pairs = ["mlx5_0"], [JOB]
    server.rdma_links = [{"ifname": "mlx5_0", "netdev": "rnic0"}]
    found = look_at(server, "links", "uses", "use")
    links = rnic_server_from(found["links"]).links
    assert uses_from(found["uses"]).of("rnic0", links) == client_of(server).uses(["rnic0"]).of("rnic0", links)
    assert found["use"] == {"in_use": ["queue pair 42 on mlx5_0 of python3 (process 815)"], "unknown": []}
    server.queue_pairs = None
    found = look_at(server, "uses", "use")
    assert uses_from(found["uses"]).queue_pairs is None
    [why] = found["use"]["unknown"]
    assert found["use"]["in_use"] == [f"whatever it is ({why})"]


@pytest.mark.parametrize("ofed", [True, False])
def test_lossless_settings_are_what_the_module_gathers(ofed: bool) -> None:
    server = TinyRoceServer(ofed=ofed)
    survey = RoceClient(server.run, server.files, MANAGEMENT, PCI, "auto", RDMA_DEVICES).survey_all()
    found = look_at_nics(server, "roce", "nics")
    roce = found["roce"]
    assert roce_server_from(roce["server"]) == survey
    assert roce["gathered"] == lossless.gathered(survey)
    assert (roce["lasting"], roce["unread"], roce["files"], roce["starts"]) == (lossless.lasting(survey), {}, {}, [])
    assert found["nics"] == {
        "nics": Inspection(server.run, server.files, "16.26.1040", 100_000).nics(),
        "minimum": {"firmware": "16.26.1040", "speed": 100_000},
    }


def test_ports_of_a_bond_are_read_and_adopted_as_the_bond() -> None:
    server = TinyRoceServer()
    server.links.nics["rnic1"].master = "rnic0"
    roce = look_at_nics(server, "roce")["roce"]
    assert roce["server"]["interfaces"].keys() == {"rnic0", "rnic1"}
    assert [each["name"] for each in roce["gathered"]] == ["rnic0"]


def test_a_nic_that_does_not_tell_takes_no_other_with_it() -> None:
    server = TinyRoceServer()
    server.failing.add("mlnx_qos -i rnic1")
    roce = look_at_nics(server, "roce")["roce"]
    assert roce["server"]["interfaces"].keys() == {"rnic0"}
    assert roce["unread"].keys() == {"rnic1"}
    assert "this was arranged to fail" in roce["unread"]["rnic1"]


def test_a_look_runs_each_program_once_and_changes_nothing() -> None:
    server = TinyRoceServer()
    before = copy.deepcopy((server.nics.kept(), server.files.files, server.links.files.files))
    look_at_nics(server, *OF_A_SERVER)
    calls = Counter(" ".join(argv) for argv in [*server.calls, *server.links.calls] if argv[0] != "ip")
    calls += Counter(" ".join(argv) for argv in server.calls if argv[0] == "ip")
    assert [call for call, count in calls.items() if count > 1] == []
    assert (server.nics.kept(), server.files.files, server.links.files.files) == before


def test_a_part_that_fails_says_why_in_one_line_and_takes_no_other_with_it() -> None:
    def raises(error: Exception) -> Any:
        def read() -> dict[str, Any]:
            raise error

        return read

    found = looked(
        {
            "links": raises(DeviceError("ip: two\n lines")),
            "roce": raises(Refused("no tools")),
            "things": raises(PermissionError(13, "Permission denied", "/root/x")),
            "use": lambda: {"in_use": []},
        }
    )
    assert found == {
        "links": {"message": "ip: two lines"},
        "roce": {"message": "no tools"},
        "things": {"message": "[Errno 13] Permission denied: '/root/x'"},
        "use": {"in_use": []},
    }
    assert looked({}) == {}


def test_a_server_without_tools_for_lossless_settings_has_all_else() -> None:
    found = look_at(networkd_server(), *OF_A_SERVER)
    assert [part for part in OF_A_SERVER if found[part].keys() == {"message"}] == ["roce"]
    assert "install MLNX_OFED" in found["roce"]["message"]


def test_without_a_key_of_the_run_no_secret_can_be_compared(tmp_path: Path) -> None:
    file = tmp_path / "alice.key"
    file.write_text("s3cret")

    def digests(run_key: str | None) -> set[str]:
        looks = (look_at(networkd_server(), "things", secrets=[str(file)], run_key=run_key) for _each in range(2))
        return {look["things"]["secrets"][str(file)]["secret"] for look in looks}

    assert (len(digests("of the run")), len(digests(None))) == (1, 2)


def test_a_path_that_is_also_a_secret_has_no_checksum(tmp_path: Path) -> None:
    file = tmp_path / "alice.key"
    file.write_text("s3cret")
    file.chmod(0o600)
    found = look_at(networkd_server(), "things", paths=[str(file)], secrets=[str(file)])["things"]
    assert found["paths"][str(file)]["kind"] == "file"
    assert "sha256" not in found["paths"][str(file)]
