# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pure core for the role slurm."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.schema import DeclarationError
from ansible_collections.ipu.pod.plugins.plugin_utils._slurm_setup.plan import slurm_plan
from ansible_collections.ipu.pod.plugins.plugin_utils._slurm_setup.settings import slurm_settings
from ansible_collections.ipu.pod.plugins.plugin_utils._slurm_setup.vipu_config import administrator


@contextmanager
def errors_in_a_sentence() -> Iterator[None]:
    """What is refused becomes an error of a filter."""
    try:
        yield
    except Refused as error:
        raise AnsibleFilterError(str(error)) from None
    except DeclarationError as error:
        raise AnsibleFilterError("; ".join(error.problems)) from None


def with_numbers(choice: Any) -> dict[str, Any]:
    """Before ansible-core 2.19 numbers come out of templates as text."""
    return {**choice, **{name: int(choice[name]) for name in ("default_ipus", "cred_expire")}}


def settings_of(declaration: Any, choice: Any) -> dict[str, Any]:
    """The settings of the hooks, or why they cannot be."""
    with errors_in_a_sentence():
        return slurm_settings(parse_declaration(declaration), with_numbers(choice))


def plan_of(declaration: Any, choice: Any, controllers: Any, found: Any) -> dict[str, Any]:
    """All files, or why they cannot be."""
    with errors_in_a_sentence():
        return slurm_plan(declaration, with_numbers(choice), controllers, found)


class FilterModule:
    """Filters of the collection."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {"slurm_administrator": administrator, "slurm_plan": plan_of, "slurm_settings": settings_of}
