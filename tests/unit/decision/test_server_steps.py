# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a Poplar server from a look at it, and what is refused before anything is touched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.server_steps import server_steps
from tests.support.in_memory.nic_uses import USES, given_to_a_machine, mounted
from tests.support.in_memory.rnic_runs import changed, confirmed, networkd_server
from tests.support.in_memory.roce_server import MACS, TinyRoceServer, run
from tests.support.in_memory.server import TinyServer
from tests.support.in_memory.server_looks import THINGS, Data, look, look_at, look_at_roce, settings

WANTED = {"name": "rnic0", "addresses": ["10.5.1.101/16"], "mtu": 9000}
NOTHING: Data = {"interfaces": []}
PFC = {"name": "rnic0", "trust": "dscp", "dscp_map": {26: 3}, "pfc": [3], "pause": {"rx": False, "tx": False}}
LACKS_TOOLS = {**THINGS["packages"], "missing": ["iproute2"]}


def names(steps: Any) -> list[tuple[str, str]]:
    return [(step.kind, step.name) for step in steps]


def test_a_server_that_is_as_declared_needs_nothing() -> None:
    server = networkd_server()
    assert server_steps(NOTHING, settings(), look()) == []
    confirmed(server, [WANTED])
    assert server_steps({"interfaces": [WANTED]}, settings(), look_at(server)) == []


def test_everything_in_the_order_of_the_role() -> None:
    server = TinyRoceServer()
    own = settings(
        packages=["iproute2"],
        start_networkd=True,
        roce=[PFC],
        memlock="unlimited",
        sysctl={"net.a": 1},
    )
    found = look_at_roce(server, packages=LACKS_TOOLS, kernel_parameters={"net.a": "0"})
    assert names(server_steps({"interfaces": [WANTED]}, own, found)) == [
        ("package", "iproute2"),
        ("service", "systemd-networkd.service"),
        ("interface", "rnic0"),
        ("roce", "rnic0"),
        ("file", "/etc/security/limits.d/90-ipu-memlock.conf"),
        ("file", "/etc/sysctl.d/90-ipu-pod.conf"),
        ("kernel_parameter", "net.a"),
    ]


def test_a_hosts_own_interfaces_take_the_place_of_those_of_the_pod() -> None:
    server = networkd_server()
    own = {**settings(more_interfaces=[{"name": "rnic1", "mtu": 4200}]), "rnic_interfaces": [{"name": "rnic0"}]}
    wanted, more = server_steps({"interfaces": [WANTED]}, own, look_at(server))
    assert (wanted.after or {})["mtu"] == 1500
    assert (more.name, (more.after or {})["mtu"]) == ("rnic1", 4200)
    assert names(server_steps({"interfaces": [WANTED]}, settings(), look_at(server))) == [("interface", "rnic0")]


def test_a_back_end_is_taken_from_the_settings() -> None:
    with pytest.raises(Refused, match="NetworkManager is not running"):
        server_steps({"interfaces": [WANTED]}, settings(network_backend="networkmanager"), look_at(networkd_server()))
    with pytest.raises(Refused, match="poplar_server_network_backend is 'ifupdown'; it can be auto, networkd"):
        server_steps({"interfaces": [WANTED]}, settings(network_backend="ifupdown"), look_at(networkd_server()))


def test_a_network_service_that_this_run_starts() -> None:
    server = networkd_server()
    server.networkd.runs = False
    with pytest.raises(Refused, match="start the one that shall have the RNICs"):
        server_steps({"interfaces": [WANTED]}, settings(), look_at(server))
    stopped = {"systemd-networkd.service": {"there": True, "active": "inactive", "enabled": False}}
    own = settings(start_networkd=True)
    steps = server_steps({"interfaces": [WANTED]}, own, look_at(server, units=stopped))
    assert names(steps) == [("service", "systemd-networkd.service"), ("interface", "rnic0")]
    assert server_steps({"interfaces": [WANTED]}, own, look_at(server, units=stopped), steps) == []


@pytest.mark.parametrize(("use", "words"), USES)
def test_an_interface_in_use(use: Callable[[TinyServer], None], words: str) -> None:
    server = networkd_server()
    confirmed(server, [WANTED])
    use(server)
    with pytest.raises(Refused, match=r"^interface rnic0: rnic0 is in use: ") as refused:
        server_steps({"interfaces": [{**WANTED, "mtu": 4200}]}, settings(), look_at(server))
    assert words in str(refused.value)


def test_a_change_that_waits_for_its_confirmation() -> None:
    server = networkd_server()
    changed(server, [WANTED])
    with pytest.raises(Refused, match=r"a change of rnic0 waits for its confirmation until .*; let it be confirmed"):
        server_steps({"interfaces": [WANTED]}, settings(), look_at(server))


def test_what_somebody_edited_and_did_not_load() -> None:
    server = networkd_server()
    found = look_at(server)
    found["parts"]["network"]["unloaded"] = ["systemd-networkd would also change rnic1"]
    with pytest.raises(Refused, match="systemd-networkd would also change rnic1"):
        server_steps({"interfaces": [WANTED]}, settings(), found)
    confirmed(server, [WANTED])
    found["parts"]["links"] = look_at(server)["parts"]["links"]
    assert server_steps({"interfaces": [WANTED]}, settings(), found) == []


@pytest.mark.parametrize("part", ["links", "network", "uses", "things"])
def test_what_could_not_be_read(part: str) -> None:
    server = networkd_server()
    confirmed(server, [{**WANTED, "mtu": 4200}])
    found = look_at(server)
    found["parts"][part] = {"message": "ip: no answer"}
    with pytest.raises(Refused, match=r"^ip: no answer$"):
        server_steps({"interfaces": [WANTED]}, settings(packages=["perftest"]), found)


def test_only_what_is_needed_has_to_be_readable() -> None:
    assert names(server_steps(NOTHING, settings(memlock="64"), look(things=THINGS))) == [
        ("file", "/etc/security/limits.d/90-ipu-memlock.conf")
    ]


def test_what_an_earlier_stage_does_is_not_done_again() -> None:
    server = networkd_server()
    own = settings(packages=["perftest"], sysctl={"net.a": 1})
    packages = {**THINGS["packages"], "missing": ["perftest"]}
    found = look_at(server, packages=packages, kernel_parameters={"net.a": "0"})
    earlier = server_steps({"interfaces": [WANTED]}, own, found)
    assert len(earlier) == 4
    assert server_steps({"interfaces": [WANTED]}, own, found, earlier) == []
    (step,) = server_steps({"interfaces": [{**WANTED, "mtu": 4200}]}, own, found, earlier)
    assert step.reason.startswith("mtu is 9000, wanted 4200")


def test_lossless_settings_whose_tools_are_yet_to_be_installed() -> None:
    server = TinyRoceServer()
    server.installed = set()
    found = look_at_roce(server, packages=LACKS_TOOLS)
    own = settings(packages=["iproute2"], roce=[PFC])
    _packages, step = server_steps(NOTHING, own, found)
    assert (step.kind, step.name, step.reason) == ("roce", "rnic0", "its tools are yet to be installed")
    assert server_steps(NOTHING, own, found, [_packages, step]) == []
    with pytest.raises(Refused, match="this server has neither mlnx_qos nor dcb; install"):
        server_steps(NOTHING, settings(roce=[PFC]), found)
    found["parts"]["roce"] = {"message": "ethtool -a: unknown answer"}
    with pytest.raises(Refused, match="ethtool -a: unknown answer"):
        server_steps(NOTHING, own, found)


def test_files_of_lossless_settings_have_the_declared_name() -> None:
    server = TinyRoceServer()
    labelled = {**PFC, "name": "data", "mac": MACS["rnic0"]}
    run(server, labelled)
    assert server_steps(NOTHING, settings(roce=[labelled]), look_at_roce(server)) == []
    server.files.remove("/etc/systemd/system/ipu-roce-data.service")
    (step,) = server_steps(NOTHING, settings(roce=[labelled]), look_at_roce(server))
    assert step.reason == "unit is missing"


def test_lossless_settings_are_refused_for_queue_pairs_and_nothing_else() -> None:
    server = TinyRoceServer()
    mounted(server.links)
    given_to_a_machine(server.links)
    found = look_at_roce(server)
    found["parts"]["uses"] = look_at(server.links)["parts"]["uses"]
    assert found["parts"]["uses"]["mounts"]
    assert found["parts"]["uses"]["functions"]
    assert names(server_steps(NOTHING, settings(roce=[PFC]), found)) == [("roce", "rnic0")]
    server.queue_pairs = [{"ifname": "mlx5_0", "port": 1, "lqpn": 271, "type": "RC", "comm": "train"}]
    with pytest.raises(Refused, match="interface rnic0: rnic0 is in use: queue pair 271 on mlx5_0 of train; end that"):
        server_steps(NOTHING, settings(roce=[PFC]), look_at_roce(server))


def test_a_nic_whose_lossless_settings_were_not_read() -> None:
    found = look_at_roce(TinyRoceServer())
    del found["parts"]["roce"]["server"]["interfaces"]["rnic0"]
    found["parts"]["roce"]["unread"] = {"rnic0": "mlnx_qos: no answer"}
    with pytest.raises(Refused, match=r"^mlnx_qos: no answer$"):
        server_steps(NOTHING, settings(roce=[PFC]), found)
    with pytest.raises(Refused, match="eno1 carries this SSH connection and is never changed"):
        server_steps(NOTHING, settings(roce=[{"name": "eno1"}]), found)


@pytest.mark.parametrize(
    ("interface", "message"),
    [
        ({"mtu": 9000}, "interfaces: entry 1 lacks name"),
        ({"name": "rnic0", "mtu": "tall"}, "interfaces: rnic0: mtu is 'tall', which is no int"),
        ({"name": "rnic0", "mtu": 1500.5}, "interfaces: rnic0: mtu is 1500.5, which is no int"),
        ({"name": ["rnic0"]}, "name is ['rnic0'], which is no str"),
        ({"name": "rnic0", "adresses": []}, "interfaces: rnic0: there is no option adresses; there are addresses, "),
        ({"name": "rnic0", "addresses": 5}, "interfaces: rnic0: addresses is 5, which is no list"),
        ({"name": "x", "type": "tun"}, "interfaces: x: type is 'tun'; it can be nic, vlan, bond"),
        ("rnic0", "interfaces: entry 1 is 'rnic0', which is no dict"),
        (
            {"name": "rnic0", "virtual_functions": [{"index": 0, "mac": "02:00:00:00:01:00", "trust": "perhaps"}]},
            "virtual_functions: entry 1: trust is 'perhaps', which is no bool",
        ),
    ],
)
def test_options_that_no_module_would_take(interface: Any, message: str) -> None:
    with pytest.raises(Refused) as refused:
        server_steps({"interfaces": [interface]}, settings(), look())
    assert message in str(refused.value)


def test_options_are_typed_as_a_module_would_have_them() -> None:
    server = networkd_server()
    function = {"index": "0", "mac": "02:00:00:00:01:00", "trust": "yes"}
    server.sysfs.limits = {"rnic0": 1}
    text = {"name": "rnic0", "mtu": "9000", "addresses": "10.5.1.101/16,10.6.1.101/16", "virtual_functions": [function]}
    (step,) = server_steps({"interfaces": [text]}, settings(), look_at(server))
    assert step.after is not None
    assert (step.after["mtu"], step.after["addresses"]) == (9000, ["10.5.1.101/16", "10.6.1.101/16"])
    assert step.after["virtual_functions"][0]["trust"] is True


def test_a_file_of_others_that_would_win() -> None:
    server = networkd_server()
    server.files.files["/etc/systemd/network/10-site.network"] = File("[Match]\nName=rnic*\n")
    server.networkd.reload()
    with pytest.raises(Refused, match=r"10-site\.network already configures rnic0"):
        server_steps({"interfaces": [WANTED]}, settings(), look_at(server))
