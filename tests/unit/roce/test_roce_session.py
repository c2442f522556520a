# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One server with each tool set: what ends up in the NIC and on disk, what is refused, what is put back."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused
from ansible_collections.ipu.pod.plugins.module_utils._roce.client import RoceClient
from ansible_collections.ipu.pod.plugins.module_utils._roce.plan import gathered
from tests.support.in_memory.roce_server import TinyRoceServer, run

SCRIPT = "/etc/ipu-roce/rnic0.sh"
UNIT = "/etc/systemd/system/ipu-roce-rnic0.service"
LOSSLESS = {
    "name": "rnic0",
    "pause": {"rx": False, "tx": False},
    "trust": "dscp",
    "dscp_map": {26: 3, 48: 6},
    "pfc": [3],
    "roce_mode": "v2",
    "roce_tos": 106,
}
OFED_ONLY = {"ecn": [3], "traffic_class": 106}


@pytest.fixture(params=[True, False], ids=["ofed", "inbox"])
def server(request: pytest.FixtureRequest) -> TinyRoceServer:
    return TinyRoceServer(ofed=request.param)


@pytest.fixture
def ofed() -> TinyRoceServer:
    return TinyRoceServer(ofed=True)


def test_the_nic_gets_what_is_declared(server: TinyRoceServer) -> None:
    outcome = run(server, LOSSLESS)
    assert outcome.failure is None
    port = server.nics.ports["rnic0"]
    assert (port.trust, port.pfc, port.roce_mode, port.roce_tos) == ("dscp", [3], "RoCE v2", 106)
    assert (port.applications[26], port.applications[48]) == (3, 6)
    assert port.pause == {"rx": False, "tx": False}
    assert server.nics.ports["rnic1"].pfc == []
    assert not run(server, LOSSLESS, check_mode=True).changed


def test_what_a_reset_in_the_middle_of_a_write_left_goes_with_the_next_one(ofed: TinyRoceServer) -> None:
    left = ["/etc/ipu-roce/.rnic0.sh.a1b2c3d4", "/etc/systemd/system/.ipu-roce-rnic0.service.a1b2c3d4"]
    of_others = "/etc/ipu-roce/.rnic1.sh.a1b2c3d4"
    for path in (*left, of_others):
        ofed.files.write(path, File("half a fi"))
    run(ofed, LOSSLESS)
    assert [path for path in ofed.files.files if "/." in path] == [of_others]


def test_ecn_and_traffic_class_where_the_drivers_have_them(ofed: TinyRoceServer) -> None:
    assert run(ofed, {**LOSSLESS, **OFED_ONLY}).failure is None
    assert [key for key, value in ofed.files.ecn.items() if value == "1"] == ["rnic0 np 3", "rnic0 rp 3"]
    assert ofed.files.traffic_classes == {"mlx5_0": 106, "mlx5_1": -1}


def test_script_as_a_person_finds_it_with_ofed(ofed: TinyRoceServer) -> None:
    run(ofed, {**LOSSLESS, "rings": {"rx": 8192}})
    assert ofed.files.files[SCRIPT].mode == "0755"
    assert ofed.files.files[SCRIPT].content == (
        "#!/bin/sh\n"
        "# Written by ipu.pod.rnic_roce, which overwrites what is changed here by hand.\n"
        "# RoCE settings of rnic0, set whenever the device appears.\n"
        "set -eu\n"
        "\n# The RDMA device comes after its network device; wait until udev has loaded its drivers.\n"
        "udevadm settle\n"
        "modprobe rdma_cm\n"
        '\n# pause: {"rx": false, "tx": false}\n'
        "ethtool -A rnic0 rx off tx off || [ $? -eq 78 ] # nothing to change\n"
        '\n# rings: {"rx": 8192}\n'
        "ethtool -G rnic0 rx 8192 || [ $? -eq 80 ] # nothing to change\n"
        '\n# trust: "dscp"\n'
        "mlnx_qos -i rnic0 --trust dscp\n"
        '\n# dscp_map: {"26": 3, "48": 6}\n'
        "mlnx_qos -i rnic0 --dscp2prio set,26,3\n"
        "mlnx_qos -i rnic0 --dscp2prio set,48,6\n"
        "\n# pfc: [3]\n"
        "mlnx_qos -i rnic0 --pfc 0,0,0,1,0,0,0,0\n"
        '\n# roce_mode: "v2"\n'
        "cma_roce_mode -d mlx5_0 -p 1 -m 2\n"
        "\n# roce_tos: 106\n"
        "cma_roce_tos -d mlx5_0 -p 1 -t 106\n"
    )


def test_script_and_unit_as_a_person_finds_them_with_inbox_tools() -> None:
    server = TinyRoceServer(ofed=False)
    run(server, {**LOSSLESS, "buffer_sizes": [20_480, 241_536, 0, 0, 0, 0, 0, 0]})
    assert server.files.files[SCRIPT].content.partition("rdma_cm\n")[2] == (
        '\n# pause: {"rx": false, "tx": false}\n'
        "ethtool -A rnic0 rx off tx off || [ $? -eq 78 ] # nothing to change\n"
        '\n# trust: "dscp"\n'
        '\n# dscp_map: {"26": 3, "48": 6}\n'
        "dcb app replace dev rnic0 dscp-prio 26:3 48:6\n"
        "\n# pfc: [3]\n"
        "dcb pfc set dev rnic0 prio-pfc all:off 3:on\n"
        "\n# buffer_sizes: [20480, 241536, 0, 0, 0, 0, 0, 0]\n"
        "dcb buffer set dev rnic0 buffer-size 0:20480 1:241536 2:0 3:0 4:0 5:0 6:0 7:0\n"
        '\n# roce_mode: "v2"\n'
        "mkdir -p /sys/kernel/config/rdma_cm/mlx5_0\n"
        "echo 'RoCE v2' > /sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_mode\n"
        "rmdir /sys/kernel/config/rdma_cm/mlx5_0\n"
        "\n# roce_tos: 106\n"
        "mkdir -p /sys/kernel/config/rdma_cm/mlx5_0\n"
        "echo 106 > /sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos\n"
        "rmdir /sys/kernel/config/rdma_cm/mlx5_0\n"
    )
    device = "sys-subsystem-net-devices-rnic0.device"
    assert server.files.files[UNIT].content.partition("[Unit]\n")[2] == (
        f"Description=RoCE settings of rnic0\nBindsTo={device}\nAfter={device}\n"
        f"\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/sh {SCRIPT}\n"
        f"\n[Install]\nWantedBy={device}\n"
    )


def test_a_reloaded_driver_gets_everything_back(server: TinyRoceServer) -> None:
    run(server, LOSSLESS)
    before = server.nics.kept()
    server.reload_driver()
    assert server.nics.kept() == before


def test_only_what_differs_is_set(server: TinyRoceServer) -> None:
    run(server, LOSSLESS)
    server.calls.clear()
    run(server, contradiction(dscp_map={26: 3, 48: 7}))
    changes = [" ".join(argv) for argv in server.calls if {"--dscp2prio", "app", "-A", "-t", "-m"} & set(argv)]
    assert [change for change in changes if "show" not in change] == (
        ["mlnx_qos -i rnic0 --dscp2prio set,48,7"]
        if server.files.ofed
        else ["dcb app del dev rnic0 dscp-prio 48:6", "dcb app add dev rnic0 dscp-prio 48:7"]
    )


def test_running_without_files_is_drift_and_no_disruption(server: TinyRoceServer) -> None:
    run(server, LOSSLESS)
    del server.files.files[SCRIPT]
    [step] = run(server, LOSSLESS).steps
    assert (step.reason, step.risk) == ("script is missing", "none")
    assert SCRIPT in server.files.files


def test_files_without_running_is_drift_even_where_it_is_no_longer_declared(server: TinyRoceServer) -> None:
    run(server, LOSSLESS)
    server.nics.ports["rnic0"].pfc = []
    [step] = run(server, {"name": "rnic0", "roce_tos": 106}).steps
    assert (step.reason, step.risk) == ("pfc is [], wanted [3]", "disruptive")
    assert server.nics.ports["rnic0"].pfc == [3]


def test_a_unit_that_does_not_start_is_drift(server: TinyRoceServer) -> None:
    run(server, LOSSLESS)
    [wants] = [path for path in server.files.files if ".wants/" in path]
    del server.files.files[wants]
    assert [step.reason for step in run(server, LOSSLESS).steps] == ["unit does not start with the device"]
    assert wants in server.files.files


def test_a_nic_is_found_by_its_place(server: TinyRoceServer) -> None:
    run(server, {**LOSSLESS, "name": "second", "pci": "3b:00.1"})
    assert [port.pfc for port in server.nics.ports.values()] == [[], [3]]
    assert "/etc/ipu-roce/second.sh" in server.files.files


def test_nothing_declared_changes_nothing(server: TinyRoceServer) -> None:
    files = dict(server.files.files)
    assert not run(server, {"name": "rnic0"}).changed
    assert server.files.files == files


def test_a_device_name_is_escaped_as_systemd_does() -> None:
    server = TinyRoceServer()
    server.links.nics["rdma-0"] = server.links.nics.pop("rnic0")
    server.nics.ports["rdma-0"] = server.nics.ports.pop("rnic0")
    server.files.forget()
    run(server, {"name": "a", "mac": "04:3f:72:00:01:02", "pause": {"rx": False}})
    assert r"sys-subsystem-net-devices-rdma\x2d0.device" in server.files.files[UNIT.replace("rnic0", "a")].content


def contradiction(**changes: Any) -> dict[str, Any]:
    return {name: value for name, value in {**LOSSLESS, **changes}.items() if value is not None}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            contradiction(pause=None),
            "PFC on priority 3 and pause frames (rx, tx) exclude each other; declare pause: {rx",
        ),
        (contradiction(pause={"rx": True, "tx": False}), "pause frames (rx) exclude each other"),
        (
            contradiction(roce_tos=64),
            "roce_tos 64 is DSCP 16, which maps to no priority with PFC; map it to priority 3",
        ),
        (contradiction(roce_tos=107), "roce_tos 107 marks every packet as having met congestion; 106 is without that"),
        (contradiction(roce_tos=256), "roce_tos 256 is out of range"),
        (contradiction(trust=None), "dscp_map needs trust dscp, but trust is pcp; declare trust: dscp"),
        (contradiction(trust="pcp"), "dscp_map needs trust dscp, but trust is pcp"),
        (contradiction(pfc=[8]), "pfc holds 8; a priority is 0 to 7"),
        (contradiction(dscp_map={64: 3}), "dscp_map 64: 3 is out of range"),
        (contradiction(dscp_map={"x": 3}), "dscp_map x: 3 are no numbers"),
        (contradiction(roce_mode="v1"), "roce_tos needs roce_mode v2"),
        (contradiction(rings={"rx": 0}), "rings.rx is 0; a ring has at least 1"),
        (contradiction(buffer_sizes=[1, 2]), "buffer_sizes needs 8 sizes in bytes"),
        (contradiction(name="rnic7"), "this server has no NIC with name rnic7; its NICs are: eno1"),
        (contradiction(name="eno1"), "eno1 carries this SSH connection and is never changed"),
    ],
)
def test_refused_and_nothing_touched(server: TinyRoceServer, options: dict[str, Any], message: str) -> None:
    before, files = server.nics.kept(), dict(server.files.files)
    with pytest.raises(Refused) as refused:
        run(server, options)
    assert f"interface {options['name']}: " in str(refused.value)
    assert message in str(refused.value)
    assert (server.nics.kept(), server.files.files) == (before, files)


@pytest.mark.parametrize("name", ["ecn", "traffic_class"])
def test_what_inbox_drivers_lack_is_refused(name: str) -> None:
    with pytest.raises(Refused, match=f"{name} cannot be set on rnic0 with the inbox tools; leave it out"):
        run(TinyRoceServer(ofed=False), {**LOSSLESS, name: OFED_ONLY[name]})


def test_a_pfc_priority_without_a_dscp_is_refused() -> None:
    with pytest.raises(Refused, match="PFC is on for priority 5, but no DSCP maps to it"):
        run(TinyRoceServer(ofed=False), {**LOSSLESS, "pfc": [3, 5]})


def test_trust_dscp_without_a_map_is_refused_with_inbox_tools() -> None:
    with pytest.raises(Refused, match="trust dscp needs a dscp_map"):
        run(TinyRoceServer(ofed=False), {"name": "rnic0", "trust": "dscp"})


def test_a_script_of_somebody_else_is_refused(server: TinyRoceServer) -> None:
    server.files.files[SCRIPT] = File("#!/bin/sh\nmlnx_qos -i rnic0 --pfc 0,0,0,0,1,0,0,0\n")
    with pytest.raises(Refused, match=f"{SCRIPT} was not written by this collection; move it away"):
        run(server, LOSSLESS)


def test_dcbx_of_the_firmware_is_refused(ofed: TinyRoceServer) -> None:
    real = ofed.run

    def firmware(argv: list[str]) -> tuple[int, str, str]:
        status, output, errors = real(argv)
        return status, output.replace("OS controlled", "Firmware controlled"), errors

    ofed.run = firmware  # type: ignore[method-assign]
    with pytest.raises(Refused, match="its firmware decides on PFC by DCBX"):
        run(ofed, LOSSLESS)


def test_a_failure_puts_the_old_settings_back(server: TinyRoceServer) -> None:
    quiet = {"rx": False, "tx": False}
    run(server, {"name": "rnic0", "pause": quiet, "trust": "dscp", "dscp_map": {10: 1}, "pfc": [1]})
    before, files = copy.deepcopy(server.nics.ports["rnic0"]), dict(server.files.files)
    server.failing = {"--pfc 0,0,0,1", "3:on"}
    outcome = run(server, contradiction(rings={"rx": 2048}))
    assert "this was arranged to fail; the old settings are back" in str(outcome.failure)
    # What the NIC holds for DSCPs that are not mapped is nobody's business.
    server.nics.ports["rnic0"].firmware_map = before.firmware_map
    assert (vars(server.nics.ports["rnic0"]), server.files.files) == (vars(before), files)
    assert not outcome.changed


def test_what_is_asked_of_the_inbox_drivers_leaves_no_configfs_directory_behind() -> None:
    server = TinyRoceServer(ofed=False)
    run(server, LOSSLESS)
    assert server.files.configured == set()


def test_gathered_can_be_declared(server: TinyRoceServer) -> None:
    run(server, LOSSLESS)
    found = gathered(RoceClient(server.run, server.files, frozenset({"10.3.1.101"})).survey_all())
    assert [nic["name"] for nic in found] == ["rnic0", "rnic1"]
    assert found[0]["pfc"] == [3]
    assert all(step.risk == "none" for step in run(server, found[0], check_mode=True).steps)


JOB = {"ifname": "mlx5_0", "port": 1, "lqpn": 271, "type": "RC", "state": "RTS", "pid": 4711, "comm": "train"}


@pytest.mark.parametrize(
    "changes",
    [
        {"pfc": [3, 6]},
        {"dscp_map": {26: 3, 48: 5}},
        {"rings": {"rx": 2048}},
        {"pause": {"rx": True, "tx": True}, "pfc": []},
    ],
    ids="-".join,
)
def test_what_queue_pairs_would_feel_is_refused_with_their_names(
    server: TinyRoceServer, changes: dict[str, Any]
) -> None:
    run(server, LOSSLESS)
    server.queue_pairs = [{**JOB, "type": "GSI", "lqpn": 1, "comm": "ib_core"}, JOB]
    before, files = server.nics.kept(), dict(server.files.files)
    changed = {**LOSSLESS, "roce_tos": None, **changes}
    for check_mode in (True, False):
        with pytest.raises(Refused) as refused:
            run(server, changed, check_mode=check_mode)
        assert str(refused.value) == (
            "interface rnic0: rnic0 is in use: queue pair 271 on mlx5_0 of train (process 4711); end that first"
        )
    assert (server.nics.kept(), server.files.files) == (before, files)


def test_queue_pairs_of_another_nic_and_changes_that_they_do_not_feel_are_no_matter(server: TinyRoceServer) -> None:
    server.queue_pairs = [{**JOB, "ifname": "mlx5_1"}]
    assert run(server, LOSSLESS).failure is None
    server.queue_pairs = [JOB]
    assert not run(server, LOSSLESS).changed
    del server.files.files[SCRIPT]
    assert run(server, contradiction(roce_tos=104)).changed
    assert server.nics.ports["rnic0"].roce_tos == 104


def test_queue_pairs_that_cannot_be_listed_count_as_in_use(server: TinyRoceServer) -> None:
    server.failing = {"resource show qp"}
    with pytest.raises(Refused, match="RDMA queue pairs that cannot be listed"):
        run(server, LOSSLESS)


def test_no_tools_at_all_is_refused(ofed: TinyRoceServer) -> None:
    ofed.installed = set()
    with pytest.raises(Refused, match="this server has neither mlnx_qos nor dcb; install MLNX_OFED"):
        run(ofed, LOSSLESS)
    with pytest.raises(Refused, match="this server has no dcb"):
        run(ofed, LOSSLESS, tools="inbox")


def test_an_answer_that_is_not_understood_is_an_error(server: TinyRoceServer) -> None:
    server.failing = {"ethtool -g"}
    with pytest.raises(DeviceError, match="ethtool -g rnic0: this was arranged to fail"):
        run(server, LOSSLESS)
