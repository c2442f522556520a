# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The answers of ip and networkctl, as they were seen on Debian 12, are understood."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from ansible_collections.ipu.pod.plugins.module_utils._rnic.server import (
    Server,
    default_devices_from,
    links_from,
    management,
    network_files_from,
)

STATUS = """\
● 2: rnic0
                     Link File: n/a
                  Network File: /etc/systemd/network/50-ipu-rnic0.network
                         State: routable (configured)

Nov 21 08:50:46 pod001-poplar1 systemd-networkd[33]: rnic0: Gained carrier
● 3: rnic1
                  Network File: n/a
                         State: off (unmanaged)
"""


def entry(name: str, **more: Any) -> dict[str, Any]:
    common = {"flags": ["BROADCAST", "MULTICAST", "UP", "LOWER_UP"], "mtu": 1500, "min_mtu": 68, "max_mtu": 65535}
    return {"ifindex": 2, "ifname": name, "address": "04:3f:72:00:01:02", "addr_info": [], **common, **more}


def address(local: str, **more: Any) -> dict[str, Any]:
    return {"local": local, "prefixlen": 16, "scope": "global", **more}


def test_link_with_its_addresses() -> None:
    infos = [address("10.5.1.101"), address("10.5.7.7", dynamic=True), address("fe80::1", scope="link")]
    veth = {"linkinfo": {"info_kind": "veth"}, "link": "peer"}
    link = links_from(json.dumps([entry("rnic0", addr_info=infos, **veth)]))["rnic0"]
    assert link.addresses == ("10.5.1.101/16", "10.5.7.7/16")
    assert link.dynamic == ("10.5.7.7/16",)
    assert link.ips == {"10.5.1.101", "10.5.7.7", "fe80::1"}
    assert (link.up, link.is_nic, link.parent) == (True, True, None)


def test_network_file_per_device() -> None:
    assert network_files_from(STATUS) == {"rnic0": "/etc/systemd/network/50-ipu-rnic0.network"}


def test_default_routes() -> None:
    multipath = {"dst": "default", "nexthops": [{"dev": "eno1"}, {"dev": "eno2"}]}
    assert default_devices_from(json.dumps([{"dst": "default", "dev": "eno3"}, multipath])) == {"eno1", "eno2", "eno3"}
    assert default_devices_from("") == set()


@pytest.mark.parametrize("answer", ["Object is deprecated", "{}", '[{"ifname": "rnic0"}]'])
def test_unknown_answer_is_an_error(answer: str) -> None:
    with pytest.raises(DeviceError):
        links_from(answer)


def test_management_includes_what_lies_below() -> None:
    """A bridge with the SSH connection, over a VLAN, over a bond of two ports."""
    entries = [
        entry("br0", addr_info=[address("10.3.1.101")], linkinfo={"info_kind": "bridge"}),
        entry("bond0.3", master="br0", link="bond0", linkinfo={"info_kind": "vlan"}),
        entry("bond0", linkinfo={"info_kind": "bond"}),
        entry("eno1", master="bond0"),
        entry("eno2", master="bond0"),
        entry("eno3"),
        entry("rnic0"),
    ]
    links = links_from(json.dumps(entries))
    reasons = management(Server(links, frozenset({"eno3"}), frozenset({"10.3.1.101"})))
    assert reasons.keys() == {"br0", "bond0.3", "bond0", "eno1", "eno2", "eno3"}
    assert reasons["br0"] == "carries this SSH connection"
    assert reasons["eno3"] == "carries the default route"
    assert reasons["eno1"] == "is below br0, which carries this SSH connection"
