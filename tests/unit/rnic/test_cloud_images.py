# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A NIC that is plugged into a machine as it runs, in the images of clouds: whoever has the first one has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from tests.support.in_memory.rnic_runs import changed, confirmed, persistent, running
from tests.support.in_memory.server import Nic, TinyServer

FIRST, PLUGGED = "fa:16:3e:00:00:01", "fa:16:3e:00:00:02"
# As attach.yml calls it.
WANTED = {"name": "101-vpod", "mac": PLUGGED, "addresses": ["10.5.1.192/16"], "mtu": 9000, "description": "vPOD alice"}
WITHOUT = {"name": "101-vpod", "mac": PLUGGED, "addresses": []}

CLOUD_INIT = f"""\
network:
  version: 2
  ethernets:
    ens3:
      match: {{macaddress: {FIRST}}}
      set-name: ens3
      dhcp4: true
"""
ALL_NICS = """\
network:
  version: 2
  ethernets:
    all-en: {match: {name: 'en*'}, dhcp4: true, dhcp4-overrides: {use-domains: true}, dhcp6: true}
    all-eth: {match: {name: 'eth*'}, dhcp4: true, dhcp4-overrides: {use-domains: true}, dhcp6: true}
"""


def with_netplan(**files: str) -> TinyServer:
    server = _machine()
    for name, text in files.items():
        server.files.write(f"/etc/netplan/{name}.yaml", File(text, mode="0600"))
    server.netplan.generate()
    server.networkd.reload()
    return server


def ubuntu() -> TinyServer:
    return with_netplan(**{"50-cloud-init": CLOUD_INIT})


def debian() -> TinyServer:
    return with_netplan(**{"50-cloud-init": CLOUD_INIT, "90-default": ALL_NICS})


def rhel() -> TinyServer:
    """NetworkManager tries DHCP on a NIC that nobody has configured, by a profile of its own below /run."""
    server = _machine()
    server.networkd.runs, server.network_manager.runs = False, True
    server.network_manager.unmanaged.add("ens3")
    server.network_manager.boot()
    return server


def _machine() -> TinyServer:
    server = TinyServer({"ens3": Nic(FIRST, addresses=["10.6.1.7/16"])})
    server.kernel.default_device = "ens3"
    server.nics["ens7"] = Nic(PLUGGED)
    return server


IMAGES: dict[Callable[[], TinyServer], str] = {
    ubuntu: "/etc/netplan/60-ipu-101-vpod.yaml",
    debian: "/etc/netplan/60-ipu-101-vpod.yaml",
    rhel: "/etc/NetworkManager/system-connections/ipu-101-vpod.nmconnection",
}


@pytest.mark.parametrize(("image", "file"), IMAGES.items(), ids=lambda each: getattr(each, "__name__", ""))
def test_it_gets_its_address_and_gives_it_back(image: Callable[[], TinyServer], file: str) -> None:
    server = image()
    first = server.nics["ens3"]
    before = (first.addresses, first.mtu)
    outcome = confirmed(server, [WANTED])
    assert outcome.failure is None
    assert (server.nics["ens7"].addresses, server.nics["ens7"].mtu) == (["10.5.1.192/16"], 9000)
    assert [path for path in persistent(server) if "ipu" in path] == [file]
    assert confirmed(server, [WANTED]).steps == []
    assert (first.addresses, first.mtu) == before

    server.reboot()
    assert (server.nics["ens7"].addresses, server.nics["ens7"].mtu) == (["10.5.1.192/16"], 9000)

    assert confirmed(server, [WITHOUT]).failure is None
    assert server.nics["ens7"].addresses == []


@pytest.mark.parametrize(
    "other", [{"name": "rnic", "mac": PLUGGED}, {"name": "ens7"}], ids=["by its MAC", "by its name"]
)
def test_what_netplan_has_for_all_nics_and_would_win_is_named(other: dict[str, Any]) -> None:
    server = debian()
    before = running(server), persistent(server)
    with pytest.raises(Refused, match="all-en in netplan already configures ens7 and would win; have it match other"):
        changed(server, [{**WANTED, **other}])
    assert (running(server), persistent(server)) == before
