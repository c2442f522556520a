# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pure core for the role slurm."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._pod.schema import DeclarationError
from ansible_collections.ipu.pod.plugins.module_utils._slurm_setup.plan import slurm_plan
from ansible_collections.ipu.pod.plugins.module_utils._slurm_setup.vipu_config import administrator


def plan_of(declaration: Any, choice: Any, controllers: Any, found: Any) -> dict[str, Any]:
    """All files, or why they cannot be."""
    # Before ansible-core 2.19 numbers come out of templates as text.
    numbers = {name: int(choice[name]) for name in ("default_ipus", "cred_expire")}
    try:
        return slurm_plan(declaration, {**choice, **numbers}, controllers, found)
    except Refused as error:
        raise AnsibleFilterError(str(error)) from None
    except DeclarationError as error:
        raise AnsibleFilterError("; ".join(error.problems)) from None


class FilterModule:
    """Filters of the collection."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {"slurm_administrator": administrator, "slurm_plan": plan_of}
