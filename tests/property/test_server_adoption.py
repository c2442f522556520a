# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever Poplar servers are: nothing is planned from the pods.yml that is written for them, and it says what is."""

from __future__ import annotations

from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from ansible_collections.ipu.pod.plugins.module_utils._rnic.plan import gathered, lasting
from ansible_collections.ipu.pod.plugins.plugin_utils._adoption.fleet import adopted_fleet
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.desired import desired
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.devices import devices_of
from tests.support.in_memory.rnic_runs import changed, client_of, server_with
from tests.support.in_memory.server import Nic, TinyServer

SERVERS = [f"p-poplar{n}" for n in range(1, 5)]
DECLARED: list[dict[str, Any]] = [
    {"model": "bow-pod64", "poplar_servers": 4},
    {"model": "bow-pod64", "poplar_servers": 4, "rnic": {"interface": "rnic1", "mtu": 4200}, "tor": {"mtu": 4200}},
    {
        "model": "bow-pod64",
        "poplar_servers": 4,
        "addressing": "multi-rack",
        "overrides": {"p-poplar2": {"rnic_address": "10.5.1.99", "rnic_mtu": 1600, "bmc_address": "10.9.9.9"}},
    },
]
ADDRESSES = st.sampled_from(["derived", "10.5.7.1/16", "10.5.7.2/24", "10.1.1.1/16"])


@st.composite
def servers(draw: st.DrawFn, derived: str) -> TinyServer:
    """One that somebody configured: by a file of their own as most are, or by hand, or not at all."""
    server = server_with("networkd")
    main = draw(st.sampled_from(["rnic0", "rnic0", "rnic1"]))
    address = draw(ADDRESSES)
    addresses = [derived if address == "derived" else address, *draw(st.sampled_from([[], [], ["10.8.1.1/24"]]))]
    mtu = draw(st.sampled_from([1500, 4200, 9000]))
    how = draw(st.sampled_from(["file", "file", "file", "hand", "nothing", "bond"]))
    if how == "file":
        text = f"[Match]\nName={main}\n[Link]\nMTUBytes={mtu}\n[Network]\n"
        text += "".join(f"Address={each}\n" for each in addresses)
        server.files.write("/etc/systemd/network/20-site.network", File(text))
        server.networkd.reload()
    elif how == "hand":
        server.nics[main].addresses, server.nics[main].mtu = addresses, mtu
    elif how == "bond":
        server.nics["bond0"] = Nic("04:3f:72:00:01:02", mtu, addresses=addresses, kind="bond", bond_mode="802.3ad")
        server.nics["rnic0"].master = server.nics["rnic1"].master = "bond0"
    if draw(st.booleans()):
        server.nics["data"] = Nic("04:3f:72:00:01:02", kind="vlan", parent=main, vlan_id=300, addresses=["10.9.1.1/24"])
    return server


@st.composite
def racks(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, TinyServer]]:
    document = {"schema": 1, "pods": {"p": draw(st.sampled_from(DECLARED))}}
    devices = devices_of(parse_declaration(document))
    facts = {name: devices[name].facts for name in SERVERS}
    read = draw(st.sets(st.sampled_from(SERVERS), min_size=1))
    return document, {
        name: draw(servers(f"{facts[name]['rnic_address']}/{facts[name]['rnic_prefix']}")) for name in sorted(read)
    }


def what_is(server: TinyServer) -> dict[str, Any]:
    there = client_of(server).survey()
    return {"gathered": gathered(there), "lasting": lasting(there)}


@settings(max_examples=60)
@given(racks())
def test_nothing_is_planned_and_what_is_declared_is_what_is_there(
    rack: tuple[dict[str, Any], dict[str, TinyServer]],
) -> None:
    document, there = rack
    adoption = adopted_fleet(document, {}, {}, {name: what_is(server) for name, server in there.items()})
    declaration = parse_declaration(adoption.document)
    wanted = desired(declaration, {})["poplar_servers"]
    for name, server in there.items():
        is_left = "rnic_interfaces" in adoption.variables[name]
        event("left alone" if is_left else "declared")
        if is_left:
            assert any(each.startswith(f"{name}: ") or "contradict each other" in each for each in adoption.reasons)
            assert adoption.left[name]["rnic_interfaces"] == gathered(client_of(server).survey())
            continue
        (interface,) = wanted[name]["interfaces"]
        assert changed(server, [interface], check_mode=True).steps == []
        nic = server.nics[interface["name"]]
        assert nic.addresses == interface["addresses"]
        if interface["mtu"] is None:
            # Kept: the kernel's own, or more than the ports take, which pods.yml must not say.
            assert nic.mtu == 1500 or nic.mtu > document["pods"]["p"].get("tor", {}).get("mtu", 9214)
        else:
            assert nic.mtu == interface["mtu"]
    for name in set(SERVERS) - there.keys():
        before, after = (devices_of(parse_declaration(each))[name].facts for each in (document, adoption.document))
        kept = ("rnic_interface", "rnic_address", "rnic_prefix", "switch_ports")
        assert {key: after[key] for key in kept} == {key: before[key] for key in kept}
    again = adopted_fleet(adoption.document, {}, {}, {name: what_is(server) for name, server in there.items()})
    assert again.document == adoption.document


def test_common_settings_of_servers_are_declared_once_and_exceptions_by_name() -> None:
    def read(number: int, name: str = "rnic0", mtu: int = 9000, address: str = "") -> dict[str, Any]:
        addresses = [address or f"10.1.5.10{number}/24"]
        return {
            "gathered": [{"name": name, "type": "nic", "mac": "04:3f:72:00:01:02", "addresses": addresses, "mtu": mtu}],
            "lasting": [name],
        }

    there = {
        "p-poplar1": read(1),
        "p-poplar2": read(2, name="ens5f0"),
        "p-poplar3": read(3, mtu=4200),
        "p-poplar4": read(4, address="10.1.5.200/16"),
    }
    adoption = adopted_fleet({"schema": 1, "pods": {"p": DECLARED[0]}}, {}, {}, there)
    assert adoption.document["pods"]["p"] == {
        "model": "bow-pod64",
        "poplar_servers": 4,
        "rnic": {"interface": "rnic0", "mtu": 9000},
        "overrides": {
            "p-poplar2": {"rnic_interface": "ens5f0"},
            "p-poplar4": {"rnic_address": "10.1.5.200", "rnic_prefix": 16},
            "p-poplar3": {"rnic_mtu": 4200},
        },
    }
    assert adoption.reasons == []


def test_an_address_that_an_ipu_machine_has_is_not_declared_for_a_server() -> None:
    interface = {"name": "rnic0", "type": "nic", "mac": "04:3f:72:00:01:02", "addresses": ["10.1.5.3/24"], "mtu": 9000}
    there = {"p-poplar1": {"gathered": [interface], "lasting": ["rnic0"]}}
    adoption = adopted_fleet({"schema": 1, "pods": {"p": DECLARED[0]}}, {}, {}, there)
    assert adoption.variables == {"p-poplar1": {"rnic_interfaces": []}}
    assert adoption.reasons == [
        "p-poplar1: its RNIC is left alone, because its address 10.1.5.3 is also that of p-ipum3"
    ]
