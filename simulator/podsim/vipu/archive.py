# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A V-IPU release as the vendor ships it: a tarball with `install.sh`, which root runs. This one holds the simulation.

Releases stand side by side in /opt/gc/vipu-RELEASE, as on real installations. What else the real script does is not
published.
"""

from __future__ import annotations

import argparse
import io
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

import podsim
from podsim.vipu.releases import LATEST, check_release

SOURCE = Path(podsim.__file__).parent
PROGRAMS = {
    "vipu": ("podsim.vipu.cli", "user_main()"),
    "vipu-admin": ("podsim.vipu.cli", "admin_main()"),
    "vipu-server": ("podsim.vipu.server", 'main(["--release", RELEASE, *sys.argv[1:]])'),
}

INSTALL = """\
#!/bin/sh
# Installs V-IPU {release} (simulated) beside other releases. DESTDIR is put before the place, as everywhere.
set -eu
cd "$(dirname "$0")"
if [ -z "${{DESTDIR:-}}" ] && [ "$(id -u)" -ne 0 ]; then
    echo "install.sh: run me as root" >&2
    exit 1
fi
place="${{DESTDIR:-}}/opt/gc/vipu-{release}"
mkdir -p "$place"
cp -R vipu vipu-admin vipu-server lib "$place"
echo "V-IPU {release} is installed in $place"
"""

PROGRAM = """\
#!/usr/bin/env python3
import os
import sys
from pathlib import Path

RELEASE = "{release}"
sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
os.environ.setdefault("PODSIM_VIPU_RELEASE", RELEASE)

from {module} import {function}

sys.exit({call})
"""


def main(argv: Sequence[str] | None = None) -> int:
    """`podsim vipu-archive`. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="podsim vipu-archive", description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="the tarball to write, compressed by gzip")
    parser.add_argument("--release", type=check_release, default=LATEST, help="(default %(default)s)")
    options = parser.parse_args(argv)
    try:
        write_archive(options.file, options.release)
    except OSError as error:
        print(f"podsim vipu-archive: {error}", file=sys.stderr)
        return 1
    return 0


def write_archive(file: Path, release: str) -> None:
    """Writes the tarball of a release. Raises OSError where it cannot."""
    top = f"vipu-{release}"
    with tarfile.open(file, "w:gz") as archive:
        _add(archive, f"{top}/install.sh", INSTALL.format(release=release), 0o755)
        for name, (module, call) in PROGRAMS.items():
            program = PROGRAM.format(release=release, module=module, function=call.partition("(")[0], call=call)
            _add(archive, f"{top}/{name}", program, 0o755)
        for path in (SOURCE / "__init__.py", *sorted((SOURCE / "vipu").glob("*.py"))):
            place = path.relative_to(SOURCE.parent)
            _add(archive, f"{top}/lib/{place}", path.read_text(encoding="utf-8"), 0o644)


def _add(archive: tarfile.TarFile, name: str, text: str, mode: int) -> None:
    content = text.encode()
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), mode
    archive.addfile(member, io.BytesIO(content))
