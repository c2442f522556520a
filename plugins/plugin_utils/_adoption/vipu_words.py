# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The contents of a V-IPU controller in the terms of pods.yml, or as options of vipu_state. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import PARTITION
from ansible_collections.ipu.pod.plugins.module_utils._vipu.fields import C2_COMPATIBLE, ENUMS, FIELDS

from .adoption import Document

# Kind to the fields that vipu_state can declare and that can be read.
DECLARED = {kind: [field.name for field in fields if field.doc and field.shown] for kind, fields in FIELDS.items()}

# The keys of a partition in pods.yml that V-IPU knows the truth of.
PARTITION_KEYS = ("ipus", "gcds", "replicas", "reconfigurable", "routing", "gw_routing", "sync_type")
# How the IPUs of a partition are linked and synchronised.
INTERCONNECT = ("routing", "gw_routing", "sync_type")
UNDEFINED = ("IRT_UNDEFINED", "ST_UNDEFINED")
# What a partition has without being asked to, so that pods.yml need not say it.
USUAL_SYNC_TYPE = {True: C2_COMPATIBLE, False: "pod-native-default"}
USUAL_GW_ROUTING = ("default", "ring")


def option(kind: str, name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The option of vipu_state that keeps an entity as it is, as far as the words for it are known."""
    known = {key: fields[key] for key in DECLARED[kind] if key not in ENUMS or fields[key] in ENUMS[key]}
    if kind == PARTITION and _has_usual_replicas(fields):
        del known["replicas"]
    return {"name": name, **known}


def partition_words(partition: Mapping[str, Any]) -> Document:
    """Return a partition as pods.yml declares it, if it can declare all of it."""
    # Which routing the controller chooses for a size and topology is not published, so it is always said.
    usual: dict[str, Collection[str]] = {
        "routing": (),
        "gw_routing": USUAL_GW_ROUTING,
        "sync_type": (USUAL_SYNC_TYPE[partition["reconfigurable"]],),
    }
    return {
        "ipus": partition["size"],
        **({"gcds": partition["gcds"]} if partition["gcds"] != 1 else {}),
        **({} if _has_usual_replicas(partition) else {"replicas": partition["replicas"]}),
        **({"reconfigurable": True} if partition["reconfigurable"] else {}),
        **{fact: partition[fact] for fact, words in usual.items() if partition[fact] not in (*words, *UNDEFINED)},
    }


def missing_word(partition: Mapping[str, Any]) -> str:
    """Which fact of a partition pods.yml has no word for, as a reason; empty if it has one for all."""
    for fact in INTERCONNECT:
        if partition[fact] not in (*ENUMS[fact], *UNDEFINED):
            return f"pods.yml has no word for its {fact} {partition[fact]}"
    return ""


def _has_usual_replicas(partition: Mapping[str, Any]) -> bool:
    """One replica a GCD is what nobody asked for, and asking for it may be refused."""
    return bool(partition["replicas"] == partition["gcds"])
