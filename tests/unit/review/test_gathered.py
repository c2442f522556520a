# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was read and what was not, and the files that are written of it."""

from __future__ import annotations

from typing import Any

import yaml

from ansible_collections.ipu.pod.plugins.filter.adoption import findings_markdown, host_vars, pods_yml
from ansible_collections.ipu.pod.plugins.plugin_utils._review.gathered import reading_from

LOST = {"unreachable": True, "msg": "Connection\n timed out"}
NETWORK = {"gathered": [], "lasting": []}


def test_what_answered_is_kept_and_what_did_not_is_named() -> None:
    reading = reading_from(
        {"tor": {"vlans": []}, "lost-tor": {"failed": True, "msg": "no"}, "mgmt": {"skipped": True}, "not-asked": {}},
        {"ctrl": {"agents": {}}, "lost-ctrl": {"failed": True, "msg": "refused"}},
        {
            "server": [{"nics": [1]}, NETWORK, {"gathered": [2], "lasting": [3]}, {"stdout_lines": ["lease"]}],
            "plain": [{"nics": []}, NETWORK, {"failed": True, "msg": "neither mlnx_qos nor dcb"}, {}],
            "lost": [LOST, {"skipped": True}, {"skipped": True}, {"skipped": True}],
            "not-asked": [{}, {}, {}, {}],
        },
    )
    assert (list(reading.switches), list(reading.controllers)) == (["tor"], ["ctrl"])
    nothing: dict[str, Any] = {**NETWORK, "nics": [], "roce": [], "lasting_roce": []}
    assert reading.servers == {
        "server": {**NETWORK, "nics": [1], "roce": [2], "lasting_roce": [3]},
        "plain": nothing,
    }
    assert reading.leases == {"server": ["lease"], "plain": []}
    assert [each["device"] for each in reading.unread] == ["lost-tor", "lost-ctrl", "lost"]
    assert reading.unread[-1]["message"] == "Connection timed out"
    assert [each["device"] for each in reading.partly] == ["plain"]


def test_pods_yml_is_in_the_order_in_which_people_read() -> None:
    words = {"vpods": {}, "pods": {"p": {"overrides": {}, "tor": {"ports": {}, "mtu": 9000}, "model": "bow-pod64"}}}
    text = pods_yml({**words, "schema": 1, "plugin": "ipu.pod.pods"}, ["p-tor: VLAN 7 stays as it is"])
    assert text.splitlines()[:5] == [
        "# What was found on these pods; the same again changes nothing.",
        "# Not said here:",
        "# - p-tor: VLAN 7 stays as it is",
        "plugin: ipu.pod.pods",
        "schema: 1",
    ]
    document = yaml.safe_load(text)
    assert list(document) == ["plugin", "schema", "pods", "vpods"]
    assert list(document["pods"]["p"]) == ["model", "tor", "overrides"]
    assert list(document["pods"]["p"]["tor"]) == ["mtu", "ports"]


def test_what_is_not_declared_of_a_server_is_a_comment() -> None:
    text = host_vars({"rnic_interfaces": []}, {"rnic_interfaces": [{"name": "bond0", "members": ["a", "b"]}]})
    assert yaml.safe_load(text) == {"rnic_interfaces": []}
    comments = [line[2:] for line in text.splitlines() if line.startswith("# ")]
    assert yaml.safe_load("\n".join(comments[1:])) == {"rnic_interfaces": [{"name": "bond0", "members": ["a", "b"]}]}
    assert yaml.safe_load(host_vars({}, {"poplar_server_roce": []})) is None


def test_findings_are_a_list_with_their_remedies() -> None:
    finding = {"device": "p-tor", "finding": "VLAN 7 is empty", "remedy": "Remove it."}
    assert findings_markdown([finding]).splitlines()[2:] == ["- **p-tor**: VLAN 7 is empty. Remove it."]
    assert findings_markdown([]).splitlines()[2:] == ["Nothing."]
