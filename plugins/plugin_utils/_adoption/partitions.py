# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a partition of a controller to its words in pods.yml. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._vipu.fields import (
    C2_COMPATIBLE,
    GW_ROUTINGS,
    ROUTINGS,
    SYNC_TYPES,
)

from .adoption import Document

# The keys of a partition in pods.yml that V-IPU knows the truth of.
PARTITION_KEYS = ("ipus", "gcds", "replicas", "reconfigurable", "routing", "gw_routing", "sync_type")

# How the IPUs of a partition are linked and synchronised: what pods.yml has words for, and what needs none.
INTERCONNECT = {"routing": ROUTINGS, "gw_routing": GW_ROUTINGS, "sync_type": SYNC_TYPES}
UNDEFINED = ("IRT_UNDEFINED", "ST_UNDEFINED")
# What a partition has without being asked to, so that pods.yml need not say it.
USUAL_SYNC_TYPE = {True: C2_COMPATIBLE, False: "pod-native-default"}
USUAL_GW_ROUTING = ("default", "ring")


def partition_words(partition: Mapping[str, Any]) -> Document:
    """Return a partition as pods.yml declares it, if it can declare all of it.

    Args:
        partition: its fields, as the module vipu_info returns them.
    """
    return {
        "ipus": partition["size"],
        **({"gcds": partition["gcds"]} if partition["gcds"] != 1 else {}),
        **replica_words(partition),
        **({"reconfigurable": True} if partition["reconfigurable"] else {}),
        **_interconnect(partition),
    }


def missing_word(partition: Mapping[str, Any]) -> str:
    """Which fact of a partition pods.yml has no word for, as a reason; empty if it has one for all."""
    for fact, words in INTERCONNECT.items():
        if partition[fact] not in (*words, *UNDEFINED):
            return f"pods.yml has no word for its {fact} {partition[fact]}"
    return ""


def replica_words(partition: Mapping[str, Any]) -> dict[str, int]:
    """One replica a GCD is what nobody asked for, and asking for it may be refused."""
    return {} if partition["replicas"] == partition["gcds"] else {"replicas": partition["replicas"]}


def _interconnect(partition: Mapping[str, Any]) -> Document:
    """Links and synchronisation as far as they are not what every such partition has."""
    # Which routing the controller chooses for a size and topology is not published, so it is always said.
    usual: dict[str, Collection[str]] = {
        "routing": (),
        "gw_routing": USUAL_GW_ROUTING,
        "sync_type": (USUAL_SYNC_TYPE[partition["reconfigurable"]],),
    }
    return {fact: partition[fact] for fact, words in usual.items() if partition[fact] not in (*words, *UNDEFINED)}
