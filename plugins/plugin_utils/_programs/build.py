# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each program is one zip file that Python executes, of the parts of module_utils that it needs."""

from __future__ import annotations

import ast
import io
import zipfile
from pathlib import Path

MODULE_UTILS = Path(__file__).resolve().parents[2] / "module_utils"
PACKAGE = "ipu_pod"
SHEBANG = b"#!/usr/bin/python3\n"
# The rooms whose `program` is an entry.
SLURM, CLOUD_PARTITIONS, IPU_RUN = "_slurm_program", "_cloud_partitions", "_ipu_run"
MAIN = """\
import os
import sys

from {package}.{room}.program import main

sys.exit(main(sys.argv[1:], os.environ))
"""
# The same on every machine: nothing compressed, and no time of today.
LONG_AGO = (1980, 1, 1, 0, 0, 0)


def program(room: str) -> bytes:
    """The content of the file whose entry is in a room."""
    main = MAIN.format(package=PACKAGE, room=room)
    buffer = io.BytesIO(SHEBANG)
    buffer.seek(len(SHEBANG))
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_STORED) as archive:
        for name, text in {"__main__.py": main, f"{PACKAGE}/__init__.py": "", **_sources(Path(room))}.items():
            archive.writestr(zipfile.ZipInfo(name, LONG_AGO), text)
    return buffer.getvalue()


def _sources(room: Path) -> dict[str, str]:
    """Name in the archive to text of the entry and of everything that it imports, sorted."""
    found: dict[Path, str] = {}
    waiting = [room / "program.py"]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found[path] = (MODULE_UTILS / path).read_text(encoding="utf-8")
        waiting += [path.parent / "__init__.py", *_imported(path, found[path])]
    return {f"{PACKAGE}/{path.as_posix()}": found[path] for path in sorted(found)}


def _imported(path: Path, text: str) -> list[Path]:
    """The files of module_utils that a file imports: all such imports are relative."""
    files = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = path.parents[node.level - 1]
            module = folder.joinpath(*(node.module or "").split("."))
            names = [module / name.name for name in node.names]
            candidates = [each.with_suffix(".py") for each in (module, *names)]
            files += [file for file in candidates if (MODULE_UTILS / file).is_file()]
    return files
