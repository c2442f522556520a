# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection as a user installs it: its artefact and what that depends on, in a home without the checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import yaml
from artefact import build

from tests.support.checkout import PROGRAMS, ROOT

# Of the Python packages of an Ansible, where the collections that it carries are.
CARRIED = "lib/python*/site-packages/ansible_collections"
# What galaxy.yml has beside what a collection's manifest says of it.
NOT_IN_GALAXY_YML = ("license_file",)


class InstalledCollection:
    """The artefact with its dependencies, installed by ansible-galaxy into the home of somebody who has nothing else.

    Args:
        home: a new directory.
        programs: of which Ansible.
    """

    def __init__(self, home: Path, programs: Path = PROGRAMS) -> None:
        self.home = home
        self._programs = programs
        home.mkdir()

    def install(self) -> None:
        """Install it from files alone, as where no server of collections can be reached."""
        dependencies = [self._packed(name) for name in ("ansible.netcommon", "ansible.utils", "arista.eos")]
        artefact = build(ROOT, self.home / "artefact")
        done = self.run("ansible-galaxy", "collection", "install", "--offline", str(artefact), *map(str, dependencies))
        assert done.returncode == 0, done.stdout + done.stderr

    def run(
        self, program: str, *arguments: str, directory: Path | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run one of Ansible's programs there.

        Args:
            program: its name.
            arguments: its arguments.
            directory: where it is started; the home, if that is not said.
            environment: more variables.
        """
        where = directory or self.home
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "PYTHON"))}
        paths = {"HOME": str(self.home), "PWD": str(where), "PATH": f"{self._programs}{os.pathsep}{os.environ['PATH']}"}
        return subprocess.run(
            [f"{self._programs}/{program}", *arguments],
            cwd=where,
            env={**kept, **paths, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def _packed(self, name: str) -> Path:
        """The artefact of a collection that this Ansible carries, made from its files."""
        namespace, _, short = name.partition(".")
        (carried,) = self._programs.parent.glob(f"{CARRIED}/{namespace}/{short}")
        copy = self.home / "sources" / name
        shutil.copytree(carried, copy)
        manifest = json.loads((copy / "MANIFEST.json").read_text(encoding="utf-8"))["collection_info"]
        stated = {key: value for key, value in manifest.items() if value and key not in NOT_IN_GALAXY_YML}
        (copy / "galaxy.yml").write_text(yaml.safe_dump(stated), encoding="utf-8")
        done = self.run("ansible-galaxy", "collection", "build", "--output-path", str(copy.parent), str(copy))
        assert done.returncode == 0, done.stdout + done.stderr
        return copy.parent / f"{namespace}-{short}-{manifest['version']}.tar.gz"
