# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Words that are not those of the systems get a stand-in, the same one wherever they stand."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._anonymous.words import Words


def replaced(data: Any, *names: str) -> Any:
    return Words(data, names, b"key").replaced(data)


def test_a_name_is_replaced_piece_by_piece_and_equal_pieces_are_equal() -> None:
    assert replaced(["acme-tor1.acme.example", "vlan acme", "Acme"]) == [
        "w1-w2.w1.example",
        "vlan w1",
        "w3",
    ]


def test_a_name_of_the_inventory_is_replaced_as_a_whole_and_wherever_it_stands() -> None:
    assert replaced(["server-1", "server-1.lan", "server-12", "the server"], "server-1") == [
        "w1",
        "w1.w2",
        "server-12",
        "the server",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "interface Ethernet9/1",
        "   switchport trunk allowed vlan 101-104,999",
        "qos map dscp 8 9 to traffic-class 1",
        "pendingCommitTimer",
        "firmware-version: 16.26.1040 (MT_0000000008)",
        "--api-access-key string",
        "/sys/class/infiniband/mlx5_0/ports/1/gids",
        "70-ipu-rnic0.network",
        "enp65s0f0np0.101",
        "prio3",
        "MLNX_OFED_LINUX-5.8-2.0.3.0:",
        "4.28.3M-00000000",
    ],
)
def test_what_the_systems_say_stays(text: str) -> None:
    assert replaced(text) == text


def test_numbers_of_a_name_and_serial_numbers_are_replaced() -> None:
    assert replaced("JPE-12345678") == "w1-w2"
    assert replaced("serial 123456789012") == "serial w1"
    assert replaced({"speed": 123456789012}) == {"speed": 123456789012}


def test_the_name_of_a_field_may_be_a_word_of_the_site_too() -> None:
    assert replaced({"sessions": {"joe": {"state": "pending"}}, "vlanIds": "joe"}) == {
        "sessions": {"w1": {"state": "pending"}},
        "vlanIds": "w1",
    }


def test_the_counters_of_a_driver_stay_and_commands_to_a_switch_too() -> None:
    counters = {"asked": ["program", "ethtool", "-S", "acme0"], "output": ["     rx_vport_acme: 7"]}
    command = {"asked": ["json", "show spanning-tree blockedports"], "answers": [{"json": {"name": "acme"}}]}
    assert replaced([counters, command]) == [
        {"asked": ["program", "ethtool", "-S", "w1"], "output": ["     rx_vport_acme: 7"]},
        {"asked": ["json", "show spanning-tree blockedports"], "answers": [{"json": {"name": "w2"}}]},
    ]


def test_a_stand_in_is_no_word_of_the_site() -> None:
    assert replaced(["w1", "acme"]) == ["w2", "w3"]
