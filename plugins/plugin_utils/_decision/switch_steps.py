# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a switch, and its cabling, from its look: what tor_switch in check mode and tor_info would say. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import Step
from ansible_collections.ipu.pod.plugins.module_utils._tor.cabling import cabling, declare_cables
from ansible_collections.ipu.pod.plugins.module_utils._tor.checks import Checks, refuse_useless_timer
from ansible_collections.ipu.pod.plugins.module_utils._tor.declared import Declared, declare
from ansible_collections.ipu.pod.plugins.module_utils._tor.observed import observed_from
from ansible_collections.ipu.pod.plugins.module_utils._tor.options import ARGUMENT_SPEC, CHANGES
from ansible_collections.ipu.pod.plugins.module_utils._tor.plan import plan
from ansible_collections.ipu.pod.plugins.module_utils._tor.running_config import RunningConfig, parse
from ansible_collections.ipu.pod.plugins.module_utils._tor.surroundings import refuse_busy
from ansible_collections.ipu.pod.plugins.module_utils._tor.unsaved import Unsaved, startup_of, unsaved

from .looks import Look, missing, part, read
from .module_options import typed

Options = Mapping[str, Any]

NAMES = ("vlans", "ports", "qos", "state", "scope", "canary", "confirm_within", "checks")
STATE = {**ARGUMENT_SPEC["state"], "choices": CHANGES}
OPTIONS = {"type": "dict", "options": {**{name: ARGUMENT_SPEC[name] for name in NAMES}, "state": STATE}}


def switch_steps(options: Options, settings: Options, look: Look, earlier: Sequence[Step] = ()) -> list[Step]:
    """Return the steps of a switch.

    ``options`` has ``vlans``, ``ports``, and perhaps ``qos``, ``canary`` and ``owned``; ``settings`` are the variables
    of the role tor_switch, ``earlier`` the steps that are carried out there before. Refused if it cannot be made so,
    somebody else is changing it, or what has to be known of it could not be read.
    """
    wanted = _typed(options, settings)
    refuse_useless_timer(wanted["confirm_within"], Checks(**wanted["checks"]))
    steps = plan(_declared(wanted), _running_config(look).after(earlier))
    # The earlier steps are saved with all that was not saved before.
    steps += [] if earlier else unsaved_after([], options, settings, look).steps
    if steps:
        refuse_busy(read(look, "sessions")["busy"])
    return steps


def unsaved_after(steps: Sequence[Step], options: Options, settings: Options, look: Look) -> Unsaved:
    """Return what is not saved on a switch after these steps; ``owned`` in the options is all that is ours."""
    whole = _declared(_typed({**options, **options.get("owned", {}), "canary": []}, settings))
    saved = part(look, "startup_config")
    startup = startup_of(saved["text"]) if saved else None
    return unsaved(whole, _running_config(look).after(steps), startup, missing(look, "startup_config"))


def _typed(options: Options, settings: Options) -> dict[str, Any]:
    """The options of tor_switch, as the role tor_switch gives them."""
    given = {
        "vlans": options["vlans"],
        "ports": options["ports"],
        "qos": options.get("qos") or None,
        "canary": options.get("canary", []),
        "state": settings["tor_switch_state"],
        "scope": settings["tor_switch_scope"] or None,
        "checks": settings["tor_switch_checks"],
        "confirm_within": settings["tor_switch_confirm_within"],
    }
    typed_options: dict[str, Any] = typed(OPTIONS, given, "tor_switch")
    return typed_options


def _declared(options: Options) -> Declared:
    return declare(*(options[name] for name in ("vlans", "ports", "qos", "state", "scope", "canary")))


def cabling_of(look: Look, cables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Which device is on which port: ``cabling`` and ``table`` as tor_info returns them for its option ``cables``.

    Refused if what the switch sees could not be read.
    """
    seen = observed_from(read(look, "info"))
    return cabling(declare_cables(cables), seen, _running_config(look).ports)


def _running_config(look: Look) -> RunningConfig:
    return parse(read(look, "running_config")["text"])
