# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the IPUs of a partition are linked and synchronised: V-IPU's words, and what excludes each other."""

from __future__ import annotations

from typing import Iterator

# On the IPU-Links, on the GW-Links ("default": none in particular), and for synchronisation.
ROUTINGS = ("dnc", "swnc", "btnc", "ringswnc")
GW_ROUTINGS = ("default", "ring", "swring")
C2_COMPATIBLE = "c2-compatible"
SYNC_TYPES = (C2_COMPATIBLE, "pod-native-default", "pod-native-replicated-pipeline")


def sync_findings(reconfigurable: bool, sync_type: str | None) -> Iterator[tuple[str, str]]:
    """What no V-IPU controller would accept: field and a sentence that says what would be right."""
    if reconfigurable and sync_type not in (None, C2_COMPATIBLE):
        yield (
            "sync_type",
            f"a reconfigurable partition has sync type {C2_COMPATIBLE}, not {sync_type}; leave it out",
        )
