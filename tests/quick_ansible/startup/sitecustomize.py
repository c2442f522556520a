# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Python reads this at its start where PYTHONPATH names this folder: Ansible and its modules take less time here.

Ansible forks for every task and host. A garbage collector that looks at everything makes each of these copy what they
would share. And what modules import comes out of archives, to be compiled anew each time.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import keep_bytecode

keep_bytecode.FOLDER = str(Path(__file__).resolve().parents[3] / "build" / "bytecode")

if any("ansible" in word for word in sys.orig_argv[1:2]):
    gc.disable()
