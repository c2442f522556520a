# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Three tenants on the simulated POD64, two of them with a V-IPU controller of their own beside the shared one."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.conftest import INVENTORY
from tests.playbook_run import did_what_was_foretold

HOST = "ctrl001"
ALICES, BOBS, CAROLS = "pod001-poplar1", "pod001-poplar3", "pod001-poplar4"
SECOND = "pod001-poplar2"
ADMIN_PORTS = {"alice": 10805, "bob": 10809, "carol": 8091}

VPODS: dict[str, dict[str, Any]] = {
    "alice": {
        "vlan": 201,
        "ipus": 16,
        "controller": "dedicated",
        "ipuof": "files",
        "poplar_servers": [ALICES, SECOND],
        "partitions": {"train": {"ipus": 16, "gcds": 2, "poplar_servers": [SECOND, ALICES]}},
    },
    "bob": {
        "vlan": 202,
        "ipus": 16,
        "controller": "dedicated",
        "poplar_servers": [BOBS],
        "partitions": {"train": {"ipus": 8}},
    },
    "carol": {"vlan": 203, "ipus": 8, "poplar_servers": [CAROLS], "partitions": {"train": {"ipus": 8}}},
}


@pytest.fixture(scope="module", name="declared")
def _declared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The inventory; a test may write another pods.yml into it."""
    inventory = tmp_path_factory.mktemp("dedicated")
    (inventory / "group_vars").symlink_to(INVENTORY / "group_vars")
    write(inventory, VPODS)
    return inventory


def write(inventory: Path, vpods: dict[str, dict[str, Any]]) -> None:
    document = yaml.safe_load((INVENTORY / "pods.yml").read_text())
    document["controllers"][HOST]["mode"] = "secure"
    document["pods"]["pod001"]["vlans"] = {"quarantine": 999}
    document["vpods"] = {name: {"cluster": "c001", "users": [name], **words} for name, words in vpods.items()}
    (inventory / "pods.yml").write_text(yaml.safe_dump(document))


@pytest.fixture(scope="module", name="pod")
def _pod(fresh_pod: Any, declared: Path) -> Any:
    """The pod with all three tenants."""
    check = fresh_pod.playbook("site", "--check", "--diff", inventory=declared)
    assert (check.code, check.messages) == (0, "")
    run = fresh_pod.playbook("site", "--diff", inventory=declared)
    assert (run.code, run.messages) == (0, "")
    did_what_was_foretold(check, run)
    keys = fresh_pod.inside(HOST, "cat /var/lib/vipu*/keys/*.key /etc/vipu/vipu-admin*.hcl").split()
    assert len(keys) == 3 + 3 * 3
    said = json.dumps(run.document)
    assert not [key for key in keys[:3] if key in said]
    return fresh_pod


def test_each_tenant_sees_what_is_theirs_and_nothing_else(pod: Any) -> None:
    for name, server in (("alice", ALICES), ("alice", SECOND), ("bob", BOBS), ("carol", CAROLS)):
        seen = json.loads(pod.inside(server, "vipu --showjson list allocations"))["allocations"]
        assert [allocation["id"] for allocation in seen] == [name]
        partitions = json.loads(pod.inside(server, "vipu --showjson list partitions"))["partitions"]
        assert [(each["id"], each["spec"]["allocation_id"]) for each in partitions] == [("train", name)]


def test_every_controller_holds_what_is_of_it(pod: Any) -> None:
    held = {name: pod.module(HOST, "vipu_info", **end_point(name)) for name in ADMIN_PORTS}
    assert {name: sorted(found["allocations"]) for name, found in held.items()} == {
        "alice": ["alice"],
        "bob": ["bob"],
        "carol": ["alice", "bob", "carol"],
    }
    assert {name: sorted(found["users"]) for name, found in held.items()} == {
        name: sorted(["admin", name]) for name in ADMIN_PORTS
    }
    assert {part["allocation"] for found in held.values() for part in found["partitions"].values()} == set(ADMIN_PORTS)
    for name in ("alice", "bob"):
        own, reserved = (found["allocations"][name]["agents"] for found in (held[name], held["carol"]))
        assert own == reserved == sorted(held[name]["agents"], key=own.index)


def end_point(name: str) -> dict[str, Any]:
    suffix = "" if name == "carol" else f"-{name}"
    return {"api_port": ADMIN_PORTS[name], "config": f"/etc/vipu/vipu-admin{suffix}.hcl"}


@pytest.mark.usefixtures("pod")
def test_a_tenants_credentials_are_worth_nothing_at_another_controller() -> None:
    for port in (8090, ADMIN_PORTS["bob"] - 1):
        asked = subprocess.run(
            ["podman", "exec", f"podsim-{ALICES}", "vipu", "-P", str(port), "list", "allocations"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert asked.returncode != 0
        assert asked.stdout == ""


def test_each_server_is_told_of_its_own_gcd(pod: Any) -> None:
    found = {
        server: pod.inside(server, "ls /etc/ipuof.conf.d 2>/dev/null || true").split()
        for server in (ALICES, SECOND, BOBS)
    }
    assert found == {ALICES: ["train_ipuof.conf"], SECOND: ["train_ipuof.conf"], BOBS: []}
    gcds = {
        server: json.loads(pod.inside(server, "cat /etc/ipuof.conf.d/train_ipuof.conf"))["attributes"]["GCD Id"]
        for server in (ALICES, SECOND)
    }
    assert gcds == {SECOND: "0", ALICES: "1"}
    assert f"IPUOF_VIPU_API_PORT={ADMIN_PORTS['bob'] - 1}" in pod.inside(BOBS, "cat /etc/ipuof.env.d/train.env")


def test_again_nothing_changes(pod: Any, declared: Path) -> None:
    again = pod.playbook("site", "--diff", inventory=declared)
    assert again.changed == dict.fromkeys(again.changed, 0)


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("alice", "shared", "vPOD alice shall be on the shared controller of ctrl001, and has a dedicated one there"),
        ("carol", "dedicated", "vPOD carol shall have a dedicated controller, and has partitions on the shared one of"),
    ],
)
def test_a_vpod_does_not_change_its_kind_of_controller(
    pod: Any, declared: Path, name: str, kind: str, said: str
) -> None:
    before = pod.fingerprint()
    # On a shared controller, two vPODs cannot call a partition alike.
    words = {"partitions": {}} if kind == "shared" else {}
    write(declared, {**VPODS, name: {**VPODS[name], "controller": kind, **words}})
    refused = pod.playbook("site", "--diff", inventory=declared)
    write(declared, VPODS)
    assert refused.code != 0
    assert said in refused.messages
    assert pod.fingerprint() == before


def test_a_removed_vpod_takes_its_controller_along_and_no_other(pod: Any, declared: Path) -> None:
    of_bob = pod.inside(HOST, "cd /var/lib/vipu-server-bob && find . -type f ! -name '*.log' | sort | xargs sha256sum")
    since = pod.inside(HOST, "systemctl show -P ActiveEnterTimestampMonotonic vipu-server vipu-server-bob")
    write(declared, {**VPODS, "alice": {"vlan": 201, "state": "absent", "poplar_servers": [ALICES, SECOND]}})
    run = pod.playbook("vpods", "--diff", "-e", '{"vpods_interrupt": ["alice"]}', inventory=declared)
    assert (run.code, run.messages) == (0, "")
    left = pod.inside(HOST, "find / -xdev -name '*alice*' -not -path '/proc/*' -not -path '/tmp/*'").split()
    assert [path.rsplit("/", 1)[0] for path in left] == ["/var/lib/vipu-removed"]
    assert "alice" not in pod.inside(HOST, "systemctl list-units --all --plain 'vipu-server*'")
    held = pod.module(HOST, "vipu_info", **end_point("carol"))
    assert sorted(held["allocations"]) == ["bob", "carol"]
    read = "import urllib.request as r; print(r.urlopen('http://10.2.1.1:2112/metrics').read().decode())"
    metrics = pod.inside(HOST, f'python3 -c "{read}"')
    assert 'vipu_agent_partitions{agent="pod001-ipum1"} 0' in metrics
    assert of_bob == pod.inside(
        HOST, "cd /var/lib/vipu-server-bob && find . -type f ! -name '*.log' | sort | xargs sha256sum"
    )
    assert since == pod.inside(HOST, "systemctl show -P ActiveEnterTimestampMonotonic vipu-server vipu-server-bob")
    again = pod.playbook("vpods", "--diff", inventory=declared)
    assert again.changed == dict.fromkeys(again.changed, 0)
