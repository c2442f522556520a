# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The included slurm.conf: our hooks and counters, merged with the site's own lists. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._slurm_host.paths import HEADER, PROGRAM
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.settings import (
    DYNAMIC,
    MAPPING,
    RECONFIGURABLE,
    STATIC,
)

from .._templates.render import render
from .gres import NAME as GRES

LICENCE = "ipu"
# Slurm's names of the hooks to those of the settings.
HOOKS = {
    "PrologSlurmctld": "prolog_slurmctld",
    "EpilogSlurmctld": "epilog_slurmctld",
    "Prolog": "prolog_slurmd",
    "Epilog": "epilog_slurmd",
}
# With this code a job that met a partition in use by somebody else goes back into the queue.
REQUEUE_EXIT = "75"


def included_conf(settings: Mapping[str, Any], values: Mapping[str, str], cred_expire: int | None) -> str:
    """The text of the file.

    Args:
        settings: of the hooks.
        values: what the site's own slurm.conf says.
        cred_expire: after how many seconds a job whose prolog failed may start again; None is the site's choice.
    """
    added = {
        **dict.fromkeys(HOOKS, PROGRAM),
        "PrologFlags": _merged(values, "PrologFlags", "Alloc"),
        "JobSubmitPlugins": _merged(values, "JobSubmitPlugins", "lua"),
        "SchedulerParameters": _merged(values, "SchedulerParameters", "nohold_on_prolog_fail"),
    }
    has_models = settings["way"] == DYNAMIC and settings["gres_types"]
    if settings["way"] == STATIC or has_models:
        added["GresTypes"] = _merged(values, "GresTypes", GRES)
    if has_models:
        # No node has one: the models are only words that users say, and cli_filter.lua takes them out again.
        added["CliFilterPlugins"] = _merged(values, "CliFilterPlugins", "lua")
    if settings["way"] in (DYNAMIC, RECONFIGURABLE, MAPPING):
        added["Licenses"] = _merged(values, "Licenses", f"{LICENCE}:{settings['ipus']}")
    if settings["way"] == RECONFIGURABLE:
        added["RequeueExit"] = _merged(values, "RequeueExit", REQUEUE_EXIT)
    if cred_expire:
        added["AuthInfo"] = ",".join([*_others(values, "AuthInfo", "cred_expire"), f"cred_expire={cred_expire}"])
    return render("slurm_included.conf", header=HEADER, parameters=added)


def chained(values: Mapping[str, str]) -> dict[str, str]:
    """The site's own hooks, which ours run first, by the names of the settings."""
    return {name: values[key] for key, name in HOOKS.items() if values.get(key) not in (None, "", PROGRAM)}


def has_licence(values: Mapping[str, str]) -> bool:
    """Whether the site itself counts a licence of the name that is ours."""
    return any(re.split("[:@]", part)[0] == LICENCE for part in re.split("[,;]", values.get("Licenses", "")))


def _merged(values: Mapping[str, str], key: str, ours: str) -> str:
    """The site's list with ours at its end, unless it is there."""
    theirs = _listed(values, key)
    return ",".join([*theirs, *([] if ours.lower() in map(str.lower, theirs) else [ours])])


def _others(values: Mapping[str, str], key: str, name: str) -> list[str]:
    return [part for part in _listed(values, key) if part.partition("=")[0] != name]


def _listed(values: Mapping[str, str], key: str) -> list[str]:
    return [part for part in values.get(key, "").split(",") if part]
