# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Both ends of the cables between Poplar servers and their ToR: what does not agree is named, with both ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tests.integration.pod64.reviewer import INVENTORY


def sentences(pod: Any) -> list[str]:
    """The sentences of preflight.yml about the cables; nothing was touched."""
    before, writes = pod.fingerprint(), pod.write_requests()
    run = pod.playbook("preflight")
    assert (pod.fingerprint(), pod.write_requests()) == (before, writes)
    assert (run.code == 0) == (not run.messages)
    return messages_of(run)


def messages_of(run: Any) -> list[str]:
    """The sentences of a refusal, without the last, that nothing has been touched."""
    lines: list[str] = run.messages.removeprefix("localhost: ").splitlines()
    assert lines[-1:] in ([], ["Nothing has been touched."])
    return lines[:-1]


def test_what_disagrees_is_named_with_both_ends_and_site_sets_it_right(pod: Any) -> None:
    assert sentences(pod) == []
    pod.switch("configure", "interface Ethernet27/1", "no service-profile ROCE", "mtu 1400")
    pod.switch("configure", "vlan 666", "interface Ethernet29/1", "switchport trunk native vlan 666")
    pod.inside("pod001-poplar3", "ip link set rnic0 mtu 1500")
    pod.inside("pod001-poplar4", "ip address add 10.5.1.3/16 dev rnic0")
    pod.inside("pod001-poplar1", "mlnx_qos -i rnic0 --pfc 0,0,0,0,1,0,0,0")
    found = sentences(pod)
    # The run does not know whose address that is.
    pod.inside("pod001-poplar4", "ip address del 10.5.1.3/16 dev rnic0")
    assert found == [
        "pod001-poplar1 rnic0 (PFC on priority 4) and pod001-tor Ethernet25/1 (PFC on priority 3): PFC is hop by hop; "
        "give both the same priorities",
        "pod001-poplar2 rnic0 (MTU 9000) and pod001-tor Ethernet27/1 (MTU 1400): the switch drops longer frames; "
        "give the NIC at most 1400, or the port at least 9000",
        "pod001-poplar2 rnic0 (PFC on priority 3) and pod001-tor Ethernet27/1 (no PFC): PFC is hop by hop; give both "
        "the same priorities",
        "pod001-poplar3 rnic0 (untagged for VLAN 101) and pod001-tor Ethernet29/1 (untagged in VLAN 666): its frames "
        "go astray; put untagged frames of the port into VLAN 101",
        "pod001-poplar3 rnic0 (MTU 1500) and pod001-tor Ethernet29/1 (MTU 9214): MTU 9000 is declared for the NIC; "
        "run playbooks/poplar_servers.yml, or declare 1500",
        "pod001-poplar4 rnic0 (10.5.1.3) and pod001-ipum3 (10.5.1.3 is its rnic_address in pods.yml): give one of "
        "them another address",
    ]
    run = pod.playbook("site")
    assert (run.code, run.messages) == (0, "")
    assert {host for host, changed in run.changed.items() if changed} == {
        "pod001-tor",
        "pod001-poplar1",
        "pod001-poplar3",
    }
    pod.switch("configure", "no vlan 666")
    assert sentences(pod) == []


def test_a_nic_that_is_off_is_named(pod: Any) -> None:
    """A simulated port that is off lets the other end keep its carrier, so that the link goes at the NIC."""
    pod.inside("pod001-poplar4", "ip link set rnic0 down")
    found = sentences(pod)
    pod.inside("pod001-poplar4", "ip link set rnic0 up")
    back = "until ip -brief address show rnic0 | grep -q 10.5.1.104; do sleep 0.1; done"
    pod.inside("pod001-poplar4", f"timeout 30 sh -c '{back}'")
    assert found == [
        "pod001-poplar4 rnic0 (switched off) and pod001-tor Ethernet31/1: switch the NIC on, or run "
        "playbooks/poplar_servers.yml",
    ]
    assert sentences(pod) == []


def test_site_stops_at_what_nobody_would_set_right(pod: Any, tmp_path: Path) -> None:
    document = yaml.safe_load((INVENTORY / "pods.yml").read_text())
    document["pods"]["pod001"]["tor"]["ports"] = {"Et31/1": {"owner": "external"}}
    (tmp_path / "pods.yml").write_text(yaml.safe_dump(document))
    (tmp_path / "group_vars").symlink_to(INVENTORY / "group_vars")
    pod.switch("configure", "interface Ethernet31/1", "mtu 1400")
    before, writes = pod.fingerprint(), pod.write_requests()
    run = pod.playbook("site", inventory=tmp_path)
    assert (pod.fingerprint(), pod.write_requests()) == (before, writes)
    pod.switch("configure", "interface Ethernet31/1", "mtu 9214")
    assert run.code != 0
    assert messages_of(run) == [
        "pod001-poplar4 rnic0 (MTU 9000) and pod001-tor Ethernet31/1 (MTU 1400): the switch drops longer frames; give "
        "the NIC at most 1400, or the port at least 9000",
    ]


def test_variables_that_contradict_pods_yml_stop_everything_before_a_device_is_touched(pod: Any) -> None:
    before, writes = pod.fingerprint(), pod.write_requests()
    roce = '{"poplar_server_roce": [{"name": "rnic0", "trust": "dscp", "dscp_map": {"26": 4}, "pfc": [4]}]}'
    run = pod.playbook("site", "-e", roce)
    assert (pod.fingerprint(), pod.write_requests()) == (before, writes)
    assert run.code != 0
    assert (
        "pod001-poplar1 rnic0 (PFC on priority 4 by poplar_server_roce) and pod001-tor Ethernet25/1 "
        "(PFC on priority 3 by pods.pod001.tor.roce): PFC is hop by hop; give both the same priorities"
    ) in run.messages
