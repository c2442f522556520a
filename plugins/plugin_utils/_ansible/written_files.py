# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that a run leaves on the control node, such as a plan: they say much of a pod, and are its operator's."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path

from ansible_collections.ipu.pod.plugins.module_utils._host.atomic import NewFile

_MODE = 0o600


def write_files(files: Mapping[str, str], directory: str, is_dry: bool = False) -> bool:
    """Write files that nobody else can read, and return whether any of them changed. A new directory is as private.

    A dry run writes none.
    """
    changed = [name for name, text in files.items() if not _is_there(Path(directory) / name, text)]
    if is_dry:
        return bool(changed)
    Path(directory).mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in changed:
        with NewFile(f"{directory}/{name}", _MODE) as new:
            new.put(files[name])
    return bool(changed)


def _is_there(path: Path, text: str) -> bool:
    is_private = path.exists() and stat.S_IMODE(path.stat().st_mode) == _MODE
    return is_private and path.read_text(encoding="utf-8") == text
