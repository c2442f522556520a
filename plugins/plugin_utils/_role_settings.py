# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of the collection's roles for one host: what its owner has set, else the role's defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROLES = Path(__file__).resolve().parents[2] / "roles"


def settings_of(roles: Sequence[str], loader: Any, templar: Any, task_vars: Mapping[str, Any]) -> dict[str, Any]:
    """Role variables by name, with their templates filled in.

    Args:
        roles: names of roles of this collection.
        loader: Ansible's, which reads the roles' defaults.
        templar: Ansible's, of the task.
        task_vars: all variables of the host.

    Raises:
        AnsibleError: a template cannot be filled in.
    """
    defaults: dict[str, Any] = {}
    inner: dict[str, Any] = {}
    for role in roles:
        defaults.update(_file(loader, ROLES / role / "defaults" / "main.yml"))
        inner.update(_file(loader, ROLES / role / "vars" / "main.yml"))
    known = {**defaults, **task_vars, **inner}
    own = templar.copy_with_new_env(available_variables=known)
    return {name: own.template(known[name]) for name in defaults}


def _file(loader: Any, path: Path) -> dict[str, Any]:
    return loader.load_from_file(str(path), trusted_as_template=True) or {} if path.exists() else {}
