# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way in of a stranger: the artefact installed, a folder written, and every playbook run from it by its name."""

from __future__ import annotations

import configparser
import json
from pathlib import Path

import pytest
import yaml

from tests.support.checkout import PROGRAMS, ROOT
from tests.support.installed_collection import InstalledCollection
from tests.support.loopback import closed_port
from tests.support.simulated_pod import NEWEST_ANSIBLE

WRITTEN = ROOT / "playbooks" / "files" / "new_site"


@pytest.fixture(scope="module", params=[PROGRAMS, NEWEST_ANSIBLE], ids=["oldest", "newest"])
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> InstalledCollection:
    """The artefact with its dependencies, in an empty home."""
    if not (request.param / "ansible-playbook").exists():
        pytest.skip("no python3.13 on this machine when `make setup` ran; without it there is no newest Ansible")
    found = InstalledCollection(tmp_path_factory.mktemp("stranger") / "home", request.param)
    found.install()
    return found


@pytest.fixture(scope="module")
def site(installed: InstalledCollection) -> Path:
    """A site's folder, just made."""
    made = installed.run("ansible-playbook", "ipu.pod.new_site", "-e", "site=mine")
    assert made.returncode == 0, made.stdout + made.stderr
    assert f"{installed.home}/mine is made" in made.stdout
    return installed.home / "mine"


def test_the_folder_has_all_that_a_site_needs_and_every_playbook_is_found_there(
    installed: InstalledCollection, site: Path
) -> None:
    written = {str(path.relative_to(site)) for path in site.rglob("*") if path.is_file()}
    assert written == {
        ".gitignore",
        ".gitlab-ci.yml",
        "README.md",
        "ansible.cfg",
        "group_vars/ipu_pods.yml",
        "group_vars/switches.yml",
        "pods.schema.json",
        "pods.yml",
        "requirements.txt",
        "requirements.yml",
    }
    release = yaml.safe_load((ROOT / "galaxy.yml").read_text())["version"]
    required = yaml.safe_load((site / "requirements.yml").read_text())["collections"]
    assert required == [{"name": "ipu.pod", "version": release}]
    assert f"ipu.pod {release}" in (site / "README.md").read_text()

    names = [f"ipu.pod.{path.stem}" for path in sorted((ROOT / "playbooks").glob("*.yml"))]
    listed = installed.run(
        "ansible-playbook", "--list-hosts", *names, directory=site, ANSIBLE_STDOUT_CALLBACK="ansible.builtin.default"
    )
    assert (listed.returncode, listed.stderr) == (0, "")
    where = installed.home / ".ansible" / "collections" / "ansible_collections" / "ipu" / "pod" / "playbooks"
    paths = {line.removeprefix("playbook: ") for line in listed.stdout.splitlines() if line.startswith("playbook: ")}
    assert paths == {str(where / f"{name.removeprefix('ipu.pod.')}.yml") for name in names}


def test_what_is_written_is_right_and_nothing_is_changed_until_somebody_says_what(
    installed: InstalledCollection, site: Path
) -> None:
    checked = installed.run("ansible-playbook", "ipu.pod.validate", directory=site)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "nothing changed\n", "")
    hosts = json.loads(installed.run("ansible-inventory", "--list", directory=site).stdout)
    variables = hosts["_meta"]["hostvars"]
    assert variables["pod001-tor"]["ansible_network_os"] == "arista.eos.eos"
    assert variables["pod001-poplar1"]["ansible_user"] == "ipuuser"
    # No host answers at this port, and none has to.
    with closed_port() as port:
        nowhere = ("-e", "ansible_host=127.0.0.1", "-e", f"ansible_port={port}")
        planned = installed.run("ansible-playbook", "ipu.pod.plan", *nowhere, directory=site)
    assert planned.returncode == 0, planned.stdout + planned.stderr
    plan = json.loads((site / "plan" / "plan.json").read_text())
    assert plan["steps"] == []


def test_a_folder_that_is_not_empty_stays_as_it_is(installed: InstalledCollection, site: Path) -> None:
    before = (site / "pods.yml").read_text()
    again = installed.run("ansible-playbook", "ipu.pod.new_site", "-e", "site=mine")
    assert again.returncode == 2
    assert f"{site} is there and not empty; name a folder that is not there yet, or remove it" in again.stdout
    assert (site / "pods.yml").read_text() == before
    (installed.home / "file").touch()
    assert installed.run("ansible-playbook", "ipu.pod.new_site", "-e", "site=file").returncode == 2
    nameless = installed.run("ansible-playbook", "ipu.pod.new_site")
    assert "site is missing; say which folder to make, like -e site=mine" in nameless.stdout
    assert nameless.returncode == 2


def test_a_site_has_the_settings_of_the_checkout() -> None:
    ours, theirs = configparser.ConfigParser(), configparser.ConfigParser()
    ours.read(ROOT / "ansible.cfg")
    theirs.read(WRITTEN / "ansible.cfg")
    del ours["defaults"]["collections_path"]
    assert theirs["defaults"].pop("inventory") == "pods.yml"
    assert theirs == ours


def test_git_ignores_in_a_site_what_it_ignores_in_the_checkout() -> None:
    ignored = set((WRITTEN / ".gitignore").read_text().splitlines()[1:])
    written = {line for line in (ROOT / ".gitignore").read_text().splitlines() if line.startswith("/")}
    assert ignored == written - {"/.venv/", "/.ansible/", "/build/", "/tests/output/"}
