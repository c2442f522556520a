# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the collection's artefact and unpack it where Ansible's tools expect a collection, under build/.

The tree becomes a git repository of its own, which is what ansible-test wants to see.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "artefact"
COLLECTIONS = BUILD / "collections"
TREE = COLLECTIONS / "ansible_collections" / "ipu" / "pod"
# ansible-test keeps its environment here, and it is worth keeping for the next run.
ENVIRONMENT = TREE / "tests" / "output" / ".tmp" / "delegation"
ASIDE = BUILD / "delegation"
SHIPPED = {"CHANGELOG.md", "FILES.json", "LICENSE", "MANIFEST.json", "README.md"}
SHIPPED |= {"docs", "meta", "playbooks", "plugins", "roles"}


def build() -> Path:
    """Build the artefact and return its path."""
    BUILD.mkdir(parents=True, exist_ok=True)
    for old in BUILD.glob("*.tar.gz"):
        old.unlink()
    subprocess.run(["ansible-galaxy", "collection", "build", "--output-path", str(BUILD), str(ROOT)], check=True)
    (artefact,) = BUILD.glob("*.tar.gz")
    return artefact


def unexpected(artefact: Path) -> list[str]:
    """Return the top-level names in the artefact that are no part of the collection."""
    with tarfile.open(artefact) as archive:
        return sorted({Path(member).parts[0] for member in archive.getnames()} - SHIPPED)


def unpack(artefact: Path) -> None:
    """Replace the tree by the artefact's files."""
    if ENVIRONMENT.exists():
        ENVIRONMENT.rename(ASIDE)
    shutil.rmtree(TREE, ignore_errors=True)
    TREE.mkdir(parents=True)
    subprocess.run(["tar", "--extract", "--file", str(artefact), "--directory", str(TREE)], check=True)
    if ASIDE.exists():
        ENVIRONMENT.parent.mkdir(parents=True)
        ASIDE.rename(ENVIRONMENT)
    subprocess.run(["git", "init", "--quiet", str(TREE)], check=True)
    # Otherwise sanity would lint the environment that it builds for itself.
    (TREE / ".git" / "info" / "exclude").write_text("/tests/output/\n", encoding="utf-8")


def main() -> int:
    """Build, check and unpack; the exit status is 1 if the artefact holds what should stay in the checkout."""
    artefact = build()
    for name in unexpected(artefact):
        print(f"artefact: {name} is shipped but is no part of the collection; add it to build_ignore in galaxy.yml")
    unpack(artefact)
    return int(bool(unexpected(artefact)))


if __name__ == "__main__":
    sys.exit(main())
