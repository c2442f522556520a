# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the collection's artefact and unpack it where Ansible's tools expect a collection, under build/.

The tree becomes a git repository of its own, which is what ansible-test wants to see.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import shutil
import subprocess
import sys
import tarfile
from operator import itemgetter
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


def build(checkout: Path = ROOT, folder: Path = BUILD) -> Path:
    """Build the artefact of a checkout into a folder, with a checksum file beside it, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.tar.gz*"):
        old.unlink()
    subprocess.run(["ansible-galaxy", "collection", "build", "--output-path", str(folder), str(checkout)], check=True)
    (artefact,) = folder.glob("*.tar.gz")
    committed = subprocess.run(
        ["git", "-C", str(checkout), "log", "-1", "--format=%ct"], check=True, capture_output=True, text=True
    )
    content = reproducible(artefact, int(committed.stdout))
    artefact.write_bytes(content)
    checksum = f"{hashlib.sha256(content).hexdigest()}  {artefact.name}\n"
    artefact.with_name(f"{artefact.name}.sha256").write_text(checksum, encoding="utf-8")
    return artefact


def reproducible(artefact: Path, modified: int) -> bytes:
    """The artefact without what another build of the same commit would have otherwise: times, owners and order."""
    with tarfile.open(artefact) as archive:
        contents = {member.name: _content(archive, member) for member in archive}
        modes = {member.name: (member.type, member.mode) for member in archive}
    files = json.loads(contents["FILES.json"])
    files["files"].sort(key=itemgetter("name"))
    contents["FILES.json"] = _json(files)
    manifest = json.loads(contents["MANIFEST.json"])
    manifest["file_manifest_file"]["chksum_sha256"] = hashlib.sha256(contents["FILES.json"]).hexdigest()
    contents["MANIFEST.json"] = _json(manifest)
    written = io.BytesIO()
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=written, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        # ansible-galaxy looks for these two first.
        for name in ("MANIFEST.json", "FILES.json", *sorted(contents.keys() - {"MANIFEST.json", "FILES.json"})):
            member = tarfile.TarInfo(name)
            member.type, member.mode = modes[name]
            member.size, member.mtime = len(contents[name]), modified
            archive.addfile(member, io.BytesIO(contents[name]))
    return written.getvalue()


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    return file.read() if file else b""


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


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
