# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What nearly every task needs is there before Ansible forks: plugins, and the archives that modules are sent in.

Otherwise each task's process loads the plugins, and each playbook puts the archives together.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from ansible import constants
from ansible.plugins.callback import CallbackBase
from ansible.plugins.loader import (
    action_loader,
    connection_loader,
    filter_loader,
    lookup_loader,
    shell_loader,
    test_loader,
)
from ansible.release import __version__

CLASSES = {
    action_loader: ("normal", "assert", "validate_argument_spec"),
    connection_loader: ("ssh", "local"),
    lookup_loader: ("env",),
    shell_loader: ("sh",),
}


class CallbackModule(CallbackBase):
    """It says nothing."""

    CALLBACK_VERSION = 2.0
    CALLBACK_NAME = "load_once"

    def __init__(self) -> None:
        super().__init__()
        self.kept = Path(os.environ["QUICK_ANSIBLE"]) / f"archives-{__version__}"
        self.archives = Path(constants.DEFAULT_LOCAL_TMP) / "ansiballz_cache"

    def v2_playbook_on_start(self, _playbook: Any) -> None:
        """Load them, and have the archives of the playbooks before."""
        for loader, names in CLASSES.items():
            for name in names:
                loader.get(f"ansible.builtin.{name}", class_only=True)
        filter_loader.get("ansible.builtin.bool")
        test_loader.get("ansible.builtin.match")
        # Whichever it is, Ansible looks through all files of the collection's filters.
        filter_loader.get("ipu.pod.held")
        self.kept.mkdir(exist_ok=True)
        self.archives.mkdir()
        for archive in self.kept.glob("[!.]*"):
            (self.archives / archive.name).symlink_to(archive)

    def v2_playbook_on_stats(self, _stats: Any) -> None:
        """Keep the archives that are new."""
        for archive in self.archives.iterdir():
            if not archive.is_symlink() and archive.suffix != ".lock":
                copy = shutil.copy(archive, self.kept / f".{archive.name}.{os.getpid()}")
                copy.rename(self.kept / archive.name)
