# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The edge between Ansible and the core: how a module that changes something begins and ends its work."""

from __future__ import annotations

from typing import Any, Callable, Sequence

from .converge import DeviceError, Outcome, Refused, converge
from .steps import State, Step


def run(
    module: Any,
    read: Callable[[], State],
    plan: Callable[[State], list[Step]],
    apply: Callable[[Sequence[Step]], None],
    verify: Callable[[State], str] = lambda _state: "",
    extra: Callable[[Outcome], dict[str, Any]] = lambda _outcome: {},
) -> None:
    """Converge and end the module with its outcome; ``extra`` adds return values computed from that."""
    try:
        outcome = converge(read, plan, apply, module.check_mode, verify)
    except (Refused, DeviceError) as error:
        module.fail_json(msg=str(error), changed=False)
    result = {**outcome.result(), **extra(outcome)}
    if outcome.failure is not None:
        module.fail_json(msg=str(outcome.failure), **result)
    module.exit_json(**result)
