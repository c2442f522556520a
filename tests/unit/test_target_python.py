# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All that runs on targets can be imported by the oldest Python that targets may have."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import ansible
import pytest

from tests.support.checkout import COLLECTIONS, ROOT

OLDEST = "python3.8"
ENVIRONMENT = {**os.environ, "PYENV_VERSION": "3.8", "PYTHONDONTWRITEBYTECODE": "1"}


def exists(program: str) -> bool:
    try:
        return subprocess.run([program, "--version"], capture_output=True, env=ENVIRONMENT, check=False).returncode == 0
    except FileNotFoundError:
        return False


def target_modules() -> list[str]:
    """Return the import names of all modules and module_utils."""
    return [
        ".".join(["ansible_collections", "ipu", "pod", *path.relative_to(ROOT).with_suffix("").parts])
        for folder in ("module_utils", "modules")
        for path in sorted((ROOT / "plugins" / folder).rglob("*.py"))
    ]


@pytest.mark.skipif(not exists(OLDEST), reason=f"no {OLDEST} on this machine; ruff alone checks the syntax for it")
def test_oldest_target_python_imports_everything(tmp_path: Path) -> None:
    # Targets get ansible.module_utils from the control node, and none of the packages beside it.
    (tmp_path / "ansible").symlink_to(Path(ansible.__file__).parent)
    environment = {**ENVIRONMENT, "PYTHONPATH": f"{COLLECTIONS}{os.pathsep}{tmp_path}"}
    program = "\n".join(f"import {module.removesuffix('.__init__')}" for module in target_modules())
    done = subprocess.run([OLDEST, "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
