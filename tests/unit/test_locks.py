# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Only files with known hashes are installed, and the locks say what pyproject.toml says."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from lock import HEAD, IMAGE_LOCK, LOCKS, PYTHONS, lock_of

from tests.support.checkout import ROOT

LINE = re.compile(r"(?P<name>[a-z0-9-]+)==(?P<version>[^ ]+) --hash=sha256:[0-9a-f]{64}")
ALL = [(group, python) for group, pythons in PYTHONS.items() for python in pythons]
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


def toml(path: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / path).read_text(encoding="utf-8"))


def declared(group: str) -> Iterator[tuple[str, str]]:
    """Name and version of everything in a group of pyproject.toml."""
    for entry in toml("pyproject.toml")["dependency-groups"][group]:
        if isinstance(entry, dict):
            yield from declared(entry["include-group"])
        else:
            name, is_pinned, its_version = entry.partition("==")
            assert is_pinned, f"{entry} is not pinned in pyproject.toml"
            yield normal(name), its_version


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def locked(path: Path) -> dict[str, str]:
    """Name to version in a lock; every line has a hash, and none an address."""
    text = path.read_text(encoding="utf-8")
    assert text.startswith(HEAD)
    found = [LINE.fullmatch(line) for line in text.removeprefix(HEAD).splitlines()]
    return {line["name"]: line["version"] for line in found if line or pytest.fail(f"{path}: a line is no package")}


@pytest.mark.parametrize(("group", "python"), ALL)
def test_a_lock_has_everything_that_its_group_says(group: str, python: str) -> None:
    assert dict(declared(group)).items() <= locked(lock_of(group, python)).items()


def test_every_lock_is_of_a_group_and_every_group_has_one() -> None:
    assert {lock_of(group, python) for group, python in ALL} == {IMAGE_LOCK, *LOCKS.glob("*.txt")}


def test_the_simulator_needs_nothing_that_is_not_locked() -> None:
    simulator = toml("simulator/pyproject.toml")
    assert {normal(name) for name in simulator["project"]["dependencies"]} <= locked(lock_of("dev", HERE)).keys()
    assert [tuple(entry.split("==")) for entry in simulator["build-system"]["requires"]] == [
        ("setuptools", dict(declared("build"))["setuptools"])
    ]


def test_what_is_installed_here_is_what_is_locked() -> None:
    wanted = {**locked(lock_of("build", HERE)), **locked(lock_of("dev", HERE))}
    assert {name: version(name) for name in wanted} == wanted


def options_of_setup() -> tuple[str, list[str]]:
    """What is given to pip for everything that is locked, and the commands that install something."""
    setup = (ROOT / "tests" / "tools" / "setup.sh").read_text(encoding="utf-8")
    (options,) = re.findall(r"^locked=\((.*)\)$", setup, re.MULTILINE)
    commands = setup.replace("\\\n", " ").splitlines()
    return options, [command for command in commands if re.search(r"\bpip .*\binstall\b", command)]


def test_nothing_is_built_with_tools_that_are_not_locked() -> None:
    options, commands = options_of_setup()
    for command in commands:
        whole = command.replace('"${locked[@]}"', options).split()
        assert {"--no-deps", "--no-build-isolation"} <= set(whole), command
        assert "--require-hashes" in whole or whole[whole.index("--editable") + 1] == "simulator", command
    assert len(commands) == 4


@pytest.mark.parametrize(
    ("given", "refusal"),
    [
        (f" --hash=sha256:{'0' * 64}", "THESE PACKAGES DO NOT MATCH THE HASHES"),
        ("", "Hashes are required in --require-hashes mode"),
    ],
    ids=["another hash", "no hash"],
)
def test_a_file_without_the_locked_hash_is_not_installed(tmp_path: Path, given: str, refusal: str) -> None:
    archive = tmp_path / "harmless-1.0-py3-none-any.whl"
    archive.write_bytes(b"something else than was locked")
    (tmp_path / "lock.txt").write_text(f"harmless==1.0{given}\n")
    options, _commands = options_of_setup()
    pip = [sys.executable, "-m", "pip", "install", *options.replace("-qq ", "").split(), "--no-index", "--dry-run"]
    done = subprocess.run(
        [*pip, "--find-links", str(tmp_path), "--requirement", str(tmp_path / "lock.txt")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert refusal in done.stderr
