# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps what Python compiles out of zip archives, where Ansible's modules come from; simulated servers share a CPU.

Python itself keeps the bytecode of files alone. Kept by the hash of the source, it is never stale; and no power cut
leaves half of it, as it is in memory.
"""

from __future__ import annotations

import _imp
import marshal
import os
import zipimport

# Every program of the machine comes by here; they need not load these.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

FOLDER = "/run/python-bytecode"
importer: Any = zipimport
compile_source = importer._compile_source


def kept(path: str, source: bytes) -> CodeType:
    """The bytecode of a file in an archive; root keeps it for the next time."""
    name = f"{FOLDER}/{_imp.source_hash(0, source).hex()}"
    try:
        with open(name, "rb") as file:
            code: CodeType = marshal.load(file)
        return code
    except FileNotFoundError:
        code = compile_source(path, source)
    if os.geteuid() == 0:
        os.makedirs(FOLDER, exist_ok=True)
        with open(f"{name}.{os.getpid()}", "wb") as file:
            marshal.dump(code, file)
        os.rename(f"{name}.{os.getpid()}", name)
    return code


importer._compile_source = kept
