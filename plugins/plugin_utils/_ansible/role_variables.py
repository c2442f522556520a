# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of the collection's roles for one host: what its owner has set, else the role's defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.common.yaml import yaml_load

from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.plain import plain

ROLES = Path(__file__).resolve().parents[3] / "roles"


def settings_of(roles: Sequence[str], loader: Any, templar: Any, task_vars: Mapping[str, Any]) -> dict[str, Any]:
    """Role variables by name, as plain data: their templates filled in, and of the type that the role declares.

    ``loader`` and ``templar`` are Ansible's, of the task. AnsibleError if a template cannot be filled in, or a value is
    not what the role takes.
    """
    defaults: dict[str, Any] = {}
    inner: dict[str, Any] = {}
    specs: dict[str, Any] = {}
    for role in roles:
        defaults.update(_file(loader, ROLES / role / "defaults" / "main.yml"))
        inner.update(_file(loader, ROLES / role / "vars" / "main.yml"))
        specs.update(_specs(ROLES / role / "meta" / "argument_specs.yml"))
    known = {**defaults, **task_vars, **inner}
    own = templar.copy_with_new_env(available_variables=known)
    values = {name: plain(own.template(known[name])) for name in defaults}
    return {**values, **_typed(specs, {name: value for name, value in values.items() if value is not None})}


def _typed(specs: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    checked = ArgumentSpecValidator({name: specs[name] for name in values if name in specs}).validate(
        {name: value for name, value in values.items() if name in specs}
    )
    if checked.error_messages:
        raise AnsibleError("; ".join(checked.error_messages))
    typed: dict[str, Any] = plain(checked.validated_parameters)
    return {name: value for name, value in typed.items() if name in values}


def _specs(path: Path) -> dict[str, Any]:
    """Option to its type and choices, of all entry points of a role; whether it is required, an entry point says."""
    # Ansible's loader notes the place of each word, which takes ten times as long.
    document = yaml_load(path.read_text(encoding="utf-8"))
    kept = ("type", "elements", "choices")
    return {
        name: {key: option[key] for key in kept if key in option}
        for entry in document["argument_specs"].values()
        for name, option in entry.get("options", {}).items()
    }


def _file(loader: Any, path: Path) -> dict[str, Any]:
    # Not a copy: nothing here changes it.
    return loader.load_from_file(str(path), unsafe=True, trusted_as_template=True) or {} if path.exists() else {}
