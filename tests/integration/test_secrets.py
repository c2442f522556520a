# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A secure pod through every change and back, as loudly as Ansible can be: where are its secrets to be found?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.checkout import ROOT
from tests.support.playbook_run import LOUD
from tests.support.processes import process_list
from tests.support.secret_spellings import SHOW_KEYS, secrets_in

INVENTORY = ROOT / "inventories" / "sim_secure"
SERVERS = ("pod001-poplar3", "pod001-poplar4")
# On the switch, by somebody else. One comes in the middle.
FOREIGN = {
    "snmp-server community": "c0mmunityOfSomebody",
    "username joe secret sha512": "$6$ofJoeAndNobodyElse",
}
SAVE = "copy running-config startup-config"
# The records of runs, and what anybody on a host can read that was written in the last hour.
LEFT = r"""
(cat /var/lib/ipu-pod/*; find /etc /var /tmp /run /root /home -xdev -type f -perm /o=r -mmin -60 -exec cat {} +) \
    2>/dev/null | LC_ALL=C tr -cd '[:print:]\n'
"""
# Of the login for changes, before and after somebody has changed it.
PASSWORDS = ("firstPassw0rdOfTheLogin", "secondPassw0rdOfTheLogin")


class SecurePod:
    """One tenant of a secure controller, and everything that was said while that was changed."""

    def __init__(self, pod: Any, folder: Path) -> None:
        self.pod = pod
        self.folder = folder
        self.inventory = folder / "inventory"
        self.document = yaml.safe_load((INVENTORY / "pods.yml").read_text())
        self.document["sim"] = yaml.safe_load((INVENTORY / self.document["sim"]).read_text())["sim"]
        self.document["vpods"] = {"bob": {**self.document["vpods"]["bob"]}}
        self.inventory.mkdir()
        (self.inventory / "group_vars").symlink_to(INVENTORY / "group_vars")
        self.secrets = {*FOREIGN.values(), *PASSWORDS}
        self.said: dict[str, str] = {}

    def log_in_with(self, password: str) -> None:
        """Set the password of a login, on the switch and in the inventory."""
        account = f"username automation privilege 15 role network-admin secret 0 {password}"
        self.pod.switch("enable", "configure", account, "end", SAVE)
        login = {"ansible_user": "automation", "ansible_password": password}
        host_vars = self.inventory / "host_vars"
        host_vars.mkdir(exist_ok=True)
        (host_vars / "pod001-tor.yml").write_text(yaml.safe_dump(login))

    def run(self, name: str, playbook: str, **words: Any) -> None:
        """Plan, then do it, with other words in the entry of the tenant."""
        entry = {**self.document["vpods"]["bob"], **words}
        self.document["vpods"]["bob"] = {word: value for word, value in entry.items() if value is not None}
        (self.inventory / "pods.yml").write_text(yaml.safe_dump(self.document, sort_keys=False))
        self.say(f"{name}, planned", "plan", plan_directory=str(self.folder / name), vpods_interrupt=["bob"])
        self.say(name, playbook, vpods_interrupt=["bob"])

    def say(self, name: str, playbook: str, **variables: Any) -> None:
        """A playbook that has to succeed."""
        code, self.said[name] = self.pod.say(playbook, *LOUD, "-e", json.dumps(variables), inventory=self.inventory)
        assert code == 0, (name, self.said[name][-5000:])
        self.secrets |= self.keys()

    def keys(self) -> set[str]:
        """Every access key that the controller's host has now."""
        return set(self.pod.inside("ctrl001", SHOW_KEYS).split())

    def hosts(self) -> dict[str, str]:
        """The journals of all hosts, and what was left there."""
        ways = {"journal of": "journalctl", "files of": LEFT}
        return {
            f"{what} {host}": self.pod.inside(host, shows)
            for what, shows in ways.items()
            for host in ("ctrl001", *SERVERS)
        }

    def files(self) -> dict[str, str]:
        """Whatever was written on the control node."""
        found = (path for path in self.folder.rglob("*") if path.is_file())
        return {str(path): path.read_text() for path in found if self.inventory not in path.parents}


@pytest.fixture(scope="module", name="inventory")
def _inventory() -> Path:
    return INVENTORY


def test_no_secret_is_found_anywhere_through_every_change_and_back(fresh_pod: Any, tmp_path: Path) -> None:
    there = SecurePod(fresh_pod, tmp_path)
    community, joe = (f"{command} {secret}" for command, secret in FOREIGN.items())
    with process_list() as commands:
        there.log_in_with(PASSWORDS[0])
        fresh_pod.switch("enable", "configure", community, "end", SAVE)
        there.run("vPOD added", "site")
        first = there.keys()
        fresh_pod.switch("enable", "configure", joe, "end", SAVE)
        there.log_in_with(PASSWORDS[1])
        there.run("server leaves", "vpods", poplar_servers=[SERVERS[0]])
        there.run("server joins", "vpods", poplar_servers=[*SERVERS])
        there.run("vPOD removed", "vpods", state="absent")
        there.run("key rotated", "vpods", state=None)
        there.say("drift", "drift", drift_directory=str(tmp_path / "drift"))
        there.say("gather", "gather", gather_directory=str(tmp_path / "gathered"))
    assert len(there.keys() - first) == 1
    assert len(there.secrets) == len(FOREIGN) + len(PASSWORDS) + 3
    files, hosts = there.files(), there.hosts()
    assert {"plan.json", "plan.md", "plan.html", "junit.xml", "findings.md"} <= {Path(name).name for name in files}
    assert "vpods.yml" in hosts["files of ctrl001"]
    assert any("vipu-admin" in command for command in commands)
    places = {**there.said, **files, **hosts, "process list": "\n".join(commands)}
    found = {place: secrets_in(text, there.secrets) for place, text in places.items()}
    assert {place: secrets for place, secrets in found.items() if secrets} == {}
