# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The edge between Ansible and the core: how a module that changes something begins and ends its work."""

from __future__ import annotations

from typing import Any, Callable, Sequence

from .converge import DeviceError, Refused, converge
from .steps import State, Step


def run(
    module: Any,
    read: Callable[[], State],
    plan: Callable[[State], list[Step]],
    apply: Callable[[Sequence[Step]], None],
    extra: Callable[[State], dict[str, Any]] | None = None,
) -> None:
    """Converge and end the module with its outcome; ``extra`` adds return values computed from ``after``."""
    try:
        outcome = converge(read, plan, apply, module.check_mode)
    except (Refused, DeviceError) as error:
        module.fail_json(msg=str(error), changed=False)
    result = outcome.result()
    if extra is not None and outcome.after is not None:
        result.update(extra(outcome.after))
    if outcome.failure is not None:
        module.fail_json(msg=str(outcome.failure), **result)
    module.exit_json(**result)
