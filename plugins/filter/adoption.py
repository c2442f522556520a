# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pure core for playbooks/gather.yml: from what controllers and switches hold to the pods.yml for it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.ipu.pod.plugins.module_utils._pod.schema import DeclarationError
from ansible_collections.ipu.pod.plugins.module_utils._tor import adoption as switches
from ansible_collections.ipu.pod.plugins.module_utils._vipu.adoption import adopted


def adopted_of(declaration: Any, held: Any) -> Any:
    """The pods.yml that reproduces what the controllers hold, and what it cannot say."""
    try:
        return asdict(adopted(_plain(declaration), _plain(held)))
    except DeclarationError as error:
        raise AnsibleFilterError("; ".join(error.problems)) from None


def adopted_switches_of(declaration: Any, gathered: Any) -> Any:
    """The pods.yml that keeps switches as they are, and what it cannot say."""
    try:
        return asdict(switches.adopted(_plain(declaration), _plain(gathered)))
    except DeclarationError as error:
        raise AnsibleFilterError("; ".join(error.problems)) from None


def _plain(value: Any) -> Any:
    """The value without what Ansible remembers of its origin."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, str) else value


class FilterModule:
    """Filters of the collection."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {"adopted": adopted_of, "adopted_switches": adopted_switches_of}
