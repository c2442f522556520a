# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Variables of roles beside a pods.yml: what a role would refuse is said before any device is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.option_checks import (
    by_hosts,
    options_of,
    refusals,
    slips,
)

ROLES = Path(__file__).resolve().parents[3] / "roles"
OPTIONS = options_of(path.read_text(encoding="utf-8") for path in ROLES.glob("*/meta/argument_specs.yml"))
NAMES = [path.name for path in ROLES.iterdir()]
RULE = {"device": "p-tor", "kind": "port", "reason": "a test", "until": "2026-12-31"}


def said(**variables: Any) -> list[str]:
    return [f"{name}: {message}" for name, message in refusals(variables, OPTIONS, ["alice", "bob"])]


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"poplar_server_roce": "yes please"}, "poplar_server_roce: a text is not a list"),
        ({"poplar_server_roce": [{"trust": "dscp"}]}, "poplar_server_roce[0].name: is missing; it has to be declared"),
        (
            {"poplar_server_roce": [{"name": "rnic0", "trust": "dcsp"}]},
            "poplar_server_roce[0].trust: 'dcsp' is not known (did you mean dscp?); use one of ",
        ),
        ({"poplar_server_more_interfaces": "rnic0.300"}, "poplar_server_more_interfaces: a text is not a list"),
        (
            {"poplar_server_more_interfaces": [{"name": "rnic0.300", "type": "vlan", "vlan": 300}]},
            "poplar_server_more_interfaces[0].vlan: is not a known key (did you mean vlan_id?); known are addresses, ",
        ),
        (
            {"poplar_server_more_interfaces": [{"name": "rnic1", "mtu": "9k"}]},
            "poplar_server_more_interfaces[0].mtu: '9k' is not a whole number",
        ),
        ({"tor_switch_confirm_within": -4}, "tor_switch_confirm_within: -4 is less than 0; use 0 or more"),
        ({"tor_switch_confirm_within": "soon"}, "tor_switch_confirm_within: 'soon' is not a whole number"),
        ({"tor_switch_confirm_within": True}, "tor_switch_confirm_within: true is not a whole number"),
        (
            {"tor_switch_state": "merge"},
            "tor_switch_state: 'merge' is not known (did you mean merged?); use one of merged, replaced, overridden",
        ),
        ({"poplar_server_start_networkd": "perhaps"}, "poplar_server_start_networkd: a text is not yes or no"),
        ({"poplar_server_sysctl": ["a=1"]}, "poplar_server_sysctl: a list is not a mapping"),
        ({"containers_groups": "lab"}, "containers_groups: a text is not a mapping"),
        (
            {"slurm_vpod": "alcie"},
            "slurm_vpod: 'alcie' is no declared vPOD (did you mean alice?); known are alice, bob",
        ),
        ({"slurm_way": "dynamical"}, "slurm_way: 'dynamical' is not known (did you mean dynamic?); use one of "),
        ({"drift_ignore": "nonsense"}, "drift_ignore: is not a list; write a list of rules with device"),
        ({"drift_ignore": ["p-tor"]}, "drift_ignore: [0] is not a mapping; write device, kind, name"),
    ],
)
def test_what_a_role_would_refuse_is_said_in_one_sentence(variables: dict[str, Any], sentence: str) -> None:
    (found,) = said(**variables)
    assert found.startswith(sentence)


def test_what_roles_take_is_taken() -> None:
    more = [{"name": "rnic0.300", "type": "vlan", "parent": "rnic0", "vlan_id": "300", "mtu": 9000}]
    assert said(poplar_server_more_interfaces=more, poplar_server_start_networkd="yes", slurm_vpod="bob") == []
    assert (
        said(poplar_server_packages="rdma-core,ethtool", containers_groups="alice=lab", poplar_server_memlock=64) == []
    )
    assert said(tor_switch_confirm_within="60", drift_ignore=[RULE], poplar_server_packages=None, own="x") == []


def test_the_elements_of_a_list_have_the_choices_of_the_list() -> None:
    options = {"kinds": {"type": "list", "elements": "str", "choices": ["a", "b"]}}
    assert list(refusals({"kinds": ["a", "b"]}, options, [])) == []
    assert list(refusals({"kinds": ["a", "c"]}, options, [])) == [("kinds[1]", "'c' is not known; use one of a, b")]


def test_no_text_that_may_be_a_secret_is_shown() -> None:
    assert "hunter2" not in str(said(backend_ai_agent_environment="TOKEN hunter2", poplar_server_roce="hunter2"))


def test_a_variable_that_is_called_almost_as_one_of_a_roles_is_named() -> None:
    names = ["poplar_server_rocee", "poplar_server_roce", "rnic_mtu", "slurm_nodes_of_ours", "own_poplar_server_roce"]
    assert list(slips(names, OPTIONS, NAMES)) == [
        ("poplar_server_rocee", "no role knows this variable (did you mean poplar_server_roce?)")
    ]


def test_what_several_hosts_have_is_said_once() -> None:
    finding = ("tor_switch_state", "is wrong")
    assert by_hosts({"p-tor": [finding], "q-tor": [finding, ("other", "too")]}) == [
        "tor_switch_state: is wrong (p-tor, q-tor)",
        "other: too (q-tor)",
    ]
