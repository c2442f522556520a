# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stages of a run in their order: what vPODs leave behind goes from the tenants down, the rest comes up. Pure."""

from __future__ import annotations

from dataclasses import dataclass

SWITCH, SERVER, CONTROLLER, VPOD, CLOUD = "switch", "server", "controller", "vpod", "cloud"

CLOUDS_DOWN, VPODS_DOWN, DEDICATED_DOWN, TENANTS_DOWN = "clouds_down", "vpods_down", "dedicated_down", "tenants_down"
SERVERS_DOWN, SWITCHES_DOWN, ALLOCATIONS_DOWN = "servers_down", "switches_down", "allocations_down"
CONTROLLERS, SWITCHES, SERVERS = "controllers", "switches", "servers"
TENANTS, DEDICATED, VPODS, CLOUDS = "tenants", "dedicated", "vpods", "clouds"
VERIFICATION = "verification"
# What a playbook may carry out alone; "vpods" is what takes vPODs down, and their settings on the servers.
PARTS = ("controllers", "switches", "servers", "vpods", "clouds")


@dataclass(frozen=True)
class Stage:
    """One stage."""

    name: str  # its name; the devices with a step in it are in the inventory group of :func:`group_of`
    layer: str  # the layer of its steps in a plan
    part: str  # the part of a run that it belongs to, one of :data:`PARTS`


DOWN = (
    Stage(CLOUDS_DOWN, CLOUD, "clouds"),
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
    Stage(CLOUDS, CLOUD, "clouds"),
)
STAGES = (*DOWN, *UP)
STAGE_NAMES = (*(stage.name for stage in STAGES), VERIFICATION)


def group_of(stage: str) -> str:
    """The inventory group of the devices that have something to do in a stage."""
    return f"ipu_pod_stage_{stage}"
