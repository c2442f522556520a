# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A dedicated V-IPU controller on one host beside the shared one, as real services of a container with systemd."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.desired import desired
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.placement import place
from tests.support.container_server import ContainerServer, begin_play
from tests.support.controller_host import MACHINES, controller_host
from tests.support.playbook_run import LOUD, PlaybookRun, playbook_run
from tests.support.processes import process_list
from tests.support.secret_spellings import SHOW_KEYS, secrets_in

HOST = "poplar1"
PLACES = {"alice": ["p-ipum1", "p-ipum2"]}
ALICE, SHARED = 10405, 8091

DECLARED: dict[str, Any] = {
    "schema": 1,
    "pods": {
        "p": {
            "model": "bow-pod64",
            "overrides": {name: {"gateway_address": address} for name, address in MACHINES.items()},
        }
    },
    "controllers": {HOST: {"address": "127.0.0.1", "mode": "secure"}},
    "clusters": {"c": {"controller": HOST, "pods": ["p"]}},
}
VPODS: dict[str, dict[str, Any]] = {
    "alice": {
        "cluster": "c",
        "ipus": 8,
        "vlan": 101,
        "users": ["alice"],
        "controller": "dedicated",
        "partitions": {"train": {"ipus": 8}},
    }
}


STORAGE = "/var/lib/vipu-server-alice/vipu-server.json"
BEGUN = f"""mkdir -m 0700 /var/lib/vipu-server-alice && cd /var/lib/vipu-server-alice && touch {STORAGE}.unfinished &&
vipu-server --init --storage {STORAGE} --secure --default-user-id admin >vipu-server.log"""
STARTED = f"/usr/local/bin/vipu-server --storage {STORAGE} --user-port 10404 --admin-port {ALICE} --secure"
UNIT = "/etc/systemd/system/vipu-server-alice.service"
# By hand: no controller any more, and one whose authentication was taken off.
FORGOTTEN = "systemctl stop vipu-server; rm -rf /srv/vipu /etc/vipu/vipu-admin.hcl"
OPENED = """rm /etc/vipu/vipu-admin.hcl; sed -i s/--secure.*// /etc/systemd/system/vipu-server.service
systemctl daemon-reload; systemctl restart vipu-server"""


@dataclass
class Bed:
    """The host, where its plays are, what was said in them, and each access key that it has had."""

    folder: Path
    server: ContainerServer
    commands: set[str]
    said: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)

    def run(self, check: bool) -> PlaybookRun:
        """Have the shared controller and the dedicated one."""
        shared, own = controllers()
        options = {f"vipu_controller_{key}": value for key, value in shared.items() if key != "name"}
        return self.play(
            role("main", **options),
            role("dedicated", vipu_controller_dedicated=own),
            check=check,
        )

    def play(self, *tasks: dict[str, Any], check: bool = False) -> PlaybookRun:
        """Run tasks on the host."""
        play = {"hosts": "poplar_servers", "gather_facts": False, "tasks": tasks}
        # What is set for the shared controller must not reach the others.
        variables = {"vipu_controller_directory": "/srv/vipu"}
        running = begin_play(self.folder / "run", [self.server], [play], check, LOUD, **variables)
        output, errors = running.communicate()
        self.said += [output, errors]
        self.keys |= set(self.server.sh(SHOW_KEYS).split())
        return playbook_run("the play", running.returncode, output, errors)

    def held(self, port: int, kind: str, name: str = "") -> list[str]:
        """The names of what a controller holds of a kind, asked as its administrator."""
        suffix = f"-{name}" if name else ""
        asked = f"vipu-admin --config /etc/vipu/vipu-admin{suffix}.hcl -P {port} --showjson list {kind}"
        return sorted(each["id"] for each in json.loads(self.server.sh(asked))[kind])


def controllers() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The desired state of the shared controller, and of those beside it."""
    declaration = parse_declaration({**DECLARED, "vpods": VPODS})
    wanted = desired(declaration, place(declaration, {HOST: PLACES}))
    return wanted["vipu_controllers"][HOST], wanted["dedicated_controllers"][HOST]


def role(entry_point: str, **options: Any) -> dict[str, Any]:
    words = {"name": "ipu.pod.vipu_controller", "tasks_from": entry_point}
    return {"name": entry_point, "ansible.builtin.include_role": words, "vars": options}


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    """A host with agents to reach, and no controller."""
    folder = tmp_path_factory.mktemp("controller")
    with process_list() as commands, controller_host(folder) as server:
        yield Bed(folder, server, commands)


def test_what_a_run_has_not_finished_the_next_one_finishes_or_removes(bed: Bed) -> None:
    _shared, own = controllers()
    # As after a run that has lost the host once the storage was initialised.
    bed.server.sh(BEGUN)
    made = bed.play(role("dedicated", vipu_controller_dedicated=own))
    assert made.code == 0, made.messages
    assert bed.held(ALICE, "partitions", "alice") == ["train"]
    assert "unfinished" not in bed.server.sh("ls /var/lib/vipu-server-alice")
    removed = role("removed", vipu_controller_removed=["alice"], vipu_controller_dedicated=[])
    assert bed.play(removed).code == 0

    # One that has been started, and whose administrator has no credentials.
    bed.server.sh(f"{BEGUN}; printf '[Service]\\nExecStart={STARTED}\\n' >{UNIT}; systemctl daemon-reload")
    gone = bed.play(removed)
    assert gone.code == 0, gone.messages
    assert "alice" not in bed.server.sh("ls /var/lib /etc/systemd/system /etc/vipu")


def test_it_comes_as_predicted_and_the_shared_one_stays_apart(bed: Bed) -> None:
    made = as_predicted(bed.run)

    assert bed.held(SHARED, "allocations") == ["alice"]
    assert bed.held(SHARED, "partitions") == []
    assert bed.held(ALICE, "allocations", "alice") == bed.held(ALICE, "clusters", "alice") == ["alice"]
    assert bed.held(ALICE, "partitions", "alice") == ["train"]
    assert bed.held(ALICE, "users", "alice") == ["admin", "alice"]
    assert bed.held(ALICE, "agents", "alice") == PLACES["alice"]
    key, mode = bed.server.sh("cat /var/lib/vipu-server-*/keys/*.key; stat -c %a /var/lib/vipu-server-*").split()
    assert mode == "1770"
    assert key not in json.dumps(made.document)
    metrics = "import urllib.request as r; print(r.urlopen('http://127.0.0.1:10406/metrics').read().decode())"
    assert "vipu_partitions" in bed.server.sh(f'python3 -c "{metrics}"')

    # The key has left the log, into which the controller goes on writing.
    log = bed.server.sh("readlink /proc/$(systemctl show --property MainPID --value vipu-server-alice)/fd/1").strip()
    assert log == "/var/lib/vipu-server-alice/log/vipu-server.log"
    assert "Access" not in bed.server.sh(f"cat {log}")

    # As after a run that has written the unit, and failed before it could restart the controller.
    bed.server.sh("touch /etc/systemd/system/vipu-server-alice.service")
    _shared, own = controllers()
    owed = bed.play(role("dedicated", vipu_controller_dedicated=own), check=True)
    assert [task.rpartition(" : ")[2] for _, task, result in owed.tasks if result.get("changed")] == [
        "Start the controller"
    ]

    opened = bed.play(role("main", vipu_controller_mode="insecure"), check=True)
    assert "is in secure mode (/etc/vipu/vipu-admin.hcl is there), but pods.yml says insecure" in opened.messages

    # A storage that is cut off is no backup: the program that copies it says so, and the older copies stay.
    storage, copies = "/var/lib/vipu-server-alice/vipu-server.json", "/var/lib/vipu-server-alice/backups"
    before = bed.server.sh(
        f"sha256sum {copies}/*.json; cp -p {storage} {storage}.whole; truncate --no-create --size=-1K {storage}"
    )
    failed = bed.server.sh("/usr/local/sbin/vipu-backup-alice 2>&1; echo $?")
    assert failed.startswith(f"{storage} is empty, cut off or no storage of vipu-server, and was not copied")
    assert failed.endswith("\n65\n")
    assert bed.server.sh(f"sha256sum {copies}/*.json; mv {storage}.whole {storage}") == before
    bed.server.sh("systemctl restart vipu-server-alice")
    assert bed.server.sh("systemctl is-active vipu-server-alice") == "active\n"

    # A damaged storage is what a backup is for, and stays beside it.
    bed.server.sh("/usr/local/sbin/vipu-backup && truncate --no-create --size=-1K /srv/vipu/vipu-server.json")
    backup = bed.server.sh("ls /srv/vipu/backups | tail -n 1").strip()
    options = {"vipu_controller_restore": backup, "vipu_controller_restore_confirmed": True}
    assert bed.play(role("restore", **options)).messages == ""
    assert bed.held(SHARED, "allocations") == ["alice"]
    bed.server.sh(f"cmp /srv/vipu/backups/{backup} /srv/vipu/vipu-server.json; ls /srv/vipu/vipu-server.json.damaged")


def test_a_controllers_user_cannot_reach_further_than_its_own_files(bed: Bed) -> None:
    status = bed.server.sh("cat /proc/$(systemctl show --property MainPID --value vipu-server-alice)/status")
    found = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    user = bed.server.sh("id -u vipu-server-alice").strip()
    assert found["Uid"].split() == [user] * 4
    assert (found["NoNewPrivs"], found["CapBnd"], found["Seccomp"]) == ("1", "0" * 16, "2")

    directory = "/var/lib/vipu-server-alice"
    before = bed.server.sh(f"cd {directory}; find keys backups log vipu-certs | sort")
    attacks = (
        "rm -rf {name}",
        "mv {name} {name}.away",
        "ln -sfn /etc {name}",
        "chmod -R 0777 {name}",
        "sh -c 'echo > {name}/planted'",
    )
    for name in ("keys", "backups", "log", "vipu-certs", "/srv/vipu", "/etc/vipu"):
        for attack in attacks:
            command = f"cd {directory}; runuser -u vipu-server-alice -- {attack.format(name=name)}"
            assert bed.server.sh(f"{command} 2>/dev/null; echo $?") != "0\n", command
    assert bed.server.sh(f"cd {directory}; find keys backups log vipu-certs | sort") == before

    # A link in the place of its storage, to what only root reads.
    bed.server.sh("umask 077; echo '{}' >/etc/secret.json")
    link = f"cd {directory}; mv vipu-server.json aside; ln -s /etc/secret.json vipu-server.json"
    bed.server.sh(f"runuser -u vipu-server-alice -- sh -c '{link}'")
    copied = bed.server.sh("/usr/local/sbin/vipu-backup-alice 2>&1; echo $?")
    assert "was not copied" in copied
    bed.server.sh(f"cd {directory}; mv aside vipu-server.json; rm /etc/secret.json")
    assert bed.server.sh(f"cd {directory}; find keys backups log vipu-certs | sort") == before


# Who has and who reads what, who runs it, and by which unit.
STATE = """cd /srv/vipu; stat -c '%n %U %G %a' . vipu-server.json keys backups log vipu-certs/client
stat -c %U /proc/$(systemctl show --property MainPID --value vipu-server); cat /etc/systemd/system/vipu-server.service
vipu-admin --config /etc/vipu/vipu-admin.hcl -P 8091 list agents"""


def test_a_controller_moves_to_another_user_and_goes_back_where_that_fails(bed: Bed) -> None:
    shared, own = controllers()
    options = {f"vipu_controller_{key}": value for key, value in shared.items() if key != "name"}

    def move(user: str, check: bool = False) -> PlaybookRun:
        return bed.play(role("main", **options, vipu_controller_user=user), check=check)

    refused = bed.play(role("dedicated", vipu_controller_dedicated=own, vipu_controller_user="root"))
    assert "holds partitions (train) and is not moved to user root under them" in refused.messages

    confined = bed.server.sh(STATE)
    as_predicted(lambda check: move("root", check))
    as_root = bed.server.sh(STATE)
    assert ". root root 700\n" in as_root
    assert "vipu-server.json root " in as_root
    assert "User=" not in as_root
    assert move("keep").changed == {"poplar1": 0}
    assert bed.server.sh(STATE) == as_root

    bed.server.sh("chmod 0700 /usr/local/bin/vipu-server")
    said = [result.get("stderr", "") for _, _, result in move("own").tasks if result.get("failed")]
    assert said == [
        "vipu-server.service did not start as vipu-server and is active as root again; "
        "why is in journalctl -u vipu-server.service"
    ]
    assert bed.server.sh(STATE) == as_root
    bed.server.sh("chmod 0755 /usr/local/bin/vipu-server")

    as_predicted(lambda check: move("own", check))
    assert bed.server.sh(STATE) == confined


def test_no_key_is_seen_while_a_controller_is_secured_and_opened_or_in_any_play_before(bed: Bed) -> None:
    def in_mode(mode: str) -> Callable[[bool], PlaybookRun]:
        return lambda check: bed.play(role("main", vipu_controller_mode=mode), check=check)

    bed.server.sh(FORGOTTEN)
    assert in_mode("insecure")(False).messages == ""
    before = set(bed.keys)
    as_predicted(in_mode("secure"))
    assert len(bed.keys - before) == 1
    bed.server.sh(OPENED)
    as_predicted(in_mode("insecure"))

    assert any("vipu-admin" in command for command in bed.commands)
    texts = [*bed.said, *bed.commands, bed.server.sh("journalctl")]
    assert secrets_in("\n".join(texts), bed.keys) == []


@pytest.mark.parametrize("mode", ["secure", "insecure"])
def test_where_the_program_has_to_be_root_the_next_run_can_have_it_so(bed: Bed, mode: str) -> None:
    bed.server.sh(f"{FORGOTTEN} /etc/systemd/system/vipu-server.service; systemctl daemon-reload")
    program = "/usr/local/bin/only-as-root"
    lines = ("#!/bin/sh", "case $* in *--init*) ;; *) [ $(id -u) = 0 ] || exit 1 ;; esac", 'exec vipu-server "$@"')
    bed.server.sh(f"cat >{program} <<'END'\n" + "\n".join(lines) + f"\nEND\nchmod 0755 {program}")
    options = {"vipu_controller_program": program, "vipu_controller_mode": mode, "vipu_controller_start_timeout": 3}
    failed = bed.play(role("main", **options))
    assert failed.messages.endswith("if it says that the program has to be root, set vipu_controller_user to root.")
    made = bed.play(role("main", **options, vipu_controller_user="root"))
    assert (made.code, made.messages) == (0, "")
    assert bed.server.sh("stat -c %U /proc/$(systemctl show --property MainPID --value vipu-server)") == "root\n"
    assert "unfinished" not in bed.server.sh("ls /srv/vipu")


def as_predicted(run: Callable[[bool], PlaybookRun]) -> PlaybookRun:
    """A run that does what a dry run has predicted."""
    predicted, made = run(True), run(False)
    for each in (predicted, made):
        assert each.messages == ""
    first, done = (
        sorted(task for _, task, result in each.tasks if result.get("changed")) for each in (predicted, made)
    )
    assert first == done
    return made
