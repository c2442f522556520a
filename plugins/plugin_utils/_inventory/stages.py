# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stages of a run in their order: what vPODs leave behind goes from the tenants down, the rest comes up. Pure."""

from __future__ import annotations

from dataclasses import dataclass

SWITCH, SERVER, CONTROLLER, VPOD = "switch", "server", "controller", "vpod"

VPODS_DOWN = "vpods_down"
DEDICATED_DOWN = "dedicated_down"
TENANTS_DOWN = "tenants_down"
SERVERS_DOWN = "servers_down"
SWITCHES_DOWN = "switches_down"
ALLOCATIONS_DOWN = "allocations_down"
CONTROLLERS = "controllers"
SWITCHES = "switches"
SERVERS = "servers"
TENANTS = "tenants"
DEDICATED = "dedicated"
VPODS = "vpods"
VERIFICATION = "verification"


@dataclass(frozen=True)
class Stage:
    """One stage."""

    name: str  # its name; the devices with a step in it are in the inventory group of :func:`group_of`
    layer: str  # the layer of its steps in a plan
    part: str  # the part of a run that it belongs to, one of :data:`PARTS`


DOWN = (
    Stage(VPODS_DOWN, VPOD, "vpods"),
    Stage(DEDICATED_DOWN, CONTROLLER, "vpods"),
    Stage(TENANTS_DOWN, CONTROLLER, "vpods"),
    Stage(SERVERS_DOWN, SERVER, "vpods"),
    Stage(SWITCHES_DOWN, SWITCH, "vpods"),
    Stage(ALLOCATIONS_DOWN, CONTROLLER, "vpods"),
)
UP = (
    Stage(CONTROLLERS, CONTROLLER, "controllers"),
    Stage(SWITCHES, SWITCH, "switches"),
    Stage(SERVERS, SERVER, "servers"),
    Stage(TENANTS, CONTROLLER, "controllers"),
    Stage(DEDICATED, CONTROLLER, "controllers"),
    Stage(VPODS, VPOD, "vpods"),
)
STAGES = (*DOWN, *UP)
STAGE_NAMES = (*(stage.name for stage in STAGES), VERIFICATION)
# What a playbook may carry out alone; "vpods" is what takes vPODs down, and their settings on the servers.
PARTS = ("controllers", "switches", "servers", "vpods")


def group_of(stage: str) -> str:
    """The inventory group of the devices that have something to do in a stage."""
    return f"ipu_pod_stage_{stage}"
