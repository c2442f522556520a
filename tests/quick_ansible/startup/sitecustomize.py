# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Python reads this at its start where PYTHONPATH names this folder: Ansible and its modules take less time here.

Ansible forks for every task and host. A garbage collector that looks at everything makes each of these copy what they
would share. What modules import comes out of archives, to be compiled anew each time; so are the collection's plugins
and all templates, in each of them.
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import Any

import keep_bytecode

PROGRAMS = ("ansible", "ansible-playbook")

keep_bytecode.FOLDER = str(Path(__file__).resolve().parents[3] / "build" / "bytecode")


def kept(source: bytes, filename: str, **_options: Any) -> Any:
    """What `compile` returns of a module, from the last time."""
    return keep_bytecode.kept(filename, source)


if any(os.path.basename(word) in PROGRAMS for word in sys.orig_argv[1:2]):
    gc.disable()

    import keep_templates
    from ansible.utils.collection_loader import _collection_finder

    keep_templates.keep_in(os.environ["QUICK_ANSIBLE"])
    collections: Any = _collection_finder
    collections.compile = kept
