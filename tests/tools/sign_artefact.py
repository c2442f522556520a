# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sign an artefact as ansible-galaxy verifies it: a detached signature of its MANIFEST.json, made by gpg."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

MANIFEST = "MANIFEST.json"


def signature_of(artefact: Path) -> Path:
    """Where the signature of an artefact is."""
    return artefact.with_name(f"{artefact.name.removesuffix('.tar.gz')}.asc")


def sign(artefact: Path, key: str) -> Path:
    """Write the signature of an artefact beside it and return its path; gpg asks for the key's passphrase.

    Args:
        artefact: what ``make artefact`` has built.
        key: which of gpg's secret keys, by its name, address or fingerprint.

    Raises:
        CalledProcessError: gpg has failed, and has said why.
    """
    with tarfile.open(artefact) as archive:
        manifest = archive.extractfile(MANIFEST)
        assert manifest
        content = manifest.read()
    signature = signature_of(artefact)
    gpg = ["gpg", "--yes", "--armor", "--local-user", key, "--output", str(signature), "--detach-sign"]
    subprocess.run(gpg, input=content, check=True)
    return signature


def main() -> int:
    """Sign ``ARTEFACT`` by ``KEY``; the exit status is gpg's."""
    artefact, key = sys.argv[1:]
    try:
        print(sign(Path(artefact), key))
    except subprocess.CalledProcessError as error:
        return error.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
