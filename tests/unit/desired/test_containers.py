# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of the RNIC network for containers on a vPOD's servers."""

from __future__ import annotations

import shlex
import subprocess
from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.desired import desired
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.resources import File
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.vpod import vpod_resources
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.placement import place
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError

SERVERS = [f"p-poplar{n}" for n in range(1, 5)]
ALICE = {"cluster": "c", "ipus": 16, "poplar_servers": SERVERS[:3], "ipuof": "files", "containers": "macvlan"}


def document(pod: dict[str, Any] | None = None, **words: Any) -> dict[str, Any]:
    return {
        "schema": 1,
        "pods": {"p": {"model": "bow-pod64", "poplar_servers": 4, **(pod or {})}},
        "controllers": {"v": {"address": "10.1.3.200"}},
        "clusters": {"c": {"controller": "v", "pods": ["p"]}},
        "vpods": {"alice": {**ALICE, **words}},
    }


def settings_of(declared: dict[str, Any]) -> list[Any]:
    declaration = parse_declaration(declared)
    servers = desired(declaration, place(declaration, {}))["poplar_servers"]
    return [servers[name]["containers"] for name in SERVERS]


def problems(declared: dict[str, Any]) -> list[str]:
    with pytest.raises(DeclarationError) as refused:
        parse_declaration(declared)
    return refused.value.problems


def test_by_default_containers_get_no_settings() -> None:
    assert settings_of(document(containers=None)) == [None] * 4


def test_each_server_has_a_range_of_its_own() -> None:
    first, second, third, without = settings_of(document())
    assert first == {
        "network": "ipu-alice",
        "interface": "ens2f0",
        "subnet": "10.1.5.0/24",
        "range": "10.1.5.128/27",
    }
    assert [each["range"] for each in (second, third)] == ["10.1.5.160/27", "10.1.5.192/27"]
    assert without is None


@pytest.mark.parametrize(("addressing", "network"), [("factory", "10.1.5"), ("multi-rack", "10.5.7")])
def test_no_device_of_the_rack_is_in_a_range(addressing: str, network: str) -> None:
    declared = document({"addressing": addressing, "lrack": 7}, poplar_servers=SERVERS)
    ranges = [ip_network(each["range"]) for each in settings_of(declared)]
    devices = [ip_address(f"{network}.{number}") for number in (*range(1, 17), *range(101, 105))]
    assert not [(block, device) for block in ranges for device in devices if device in block]
    assert all(not one.overlaps(other) for one in ranges for other in ranges if one is not other)


def test_a_macvlan_network_needs_files_because_it_reaches_no_controller() -> None:
    assert problems(document(ipuof="environment")) == [
        "vpods.alice.containers: a macvlan network reaches no V-IPU controller; declare vpods.alice.ipuof: files too"
    ]


@pytest.mark.parametrize(
    ("device", "address", "sentence"),
    [
        (
            "p-ipum5",
            "10.1.5.130",
            "containers on p-poplar1 would have addresses of 10.1.5.128/27, of which p-ipum5 has ",
        ),
        (
            "p-poplar4",
            "10.1.5.199",
            "containers on p-poplar3 would have addresses of 10.1.5.192/27, of which p-poplar4",
        ),
    ],
)
def test_an_address_that_a_device_has_is_refused(device: str, address: str, sentence: str) -> None:
    (problem,) = problems(document({"overrides": {device: {"rnic_address": address}}}))
    assert problem.startswith(f"vpods.alice.containers: {sentence}")


def test_a_subnet_without_the_range_is_refused() -> None:
    prefix = {name: {"rnic_prefix": 25} for name in SERVERS}
    found = problems(document({"overrides": prefix}))
    assert found[0].startswith("vpods.alice.containers: containers on p-poplar1 would have addresses of 10.1.5.128/27")


def test_a_shell_reads_the_file() -> None:
    things = vpod_resources({"vpod_vipu": {}, "vpod_containers": settings_of(document())[0]})
    (file,) = (thing for thing in things if isinstance(thing, File))
    script = f'{file.content}\nprintf "%s\\n" "$NETWORK $INTERFACE $SUBNET $RANGE" "$RUN_OPTIONS"'
    read = subprocess.run(["sh", "-euc", script], capture_output=True, text=True, check=True).stdout.splitlines()
    assert read[0] == "ipu-alice ens2f0 10.1.5.0/24 10.1.5.128/27"
    options = shlex.split(read[1])
    assert options[:2] == ["--network", "ipu-alice"]
    assert "memlock=-1:-1" in options
    assert "host" not in options[:2]
