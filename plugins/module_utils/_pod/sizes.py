# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which numbers of IPUs exist, by the V-IPU guides. The one place that knows."""

from __future__ import annotations

from typing import Iterator

IPUS_PER_MACHINE = 4
IPUS_PER_ILD = 64
RECONFIGURABLE_MOST_IPUS = 64

ALLOCATION_SIZES = "4, 8, 16, 32, 64 and multiples of 64"
PARTITION_SIZES = "1, 2, 4, 8, 16, 32, 64 and multiples of 64"


def is_allocation_size(ipus: int) -> bool:
    """Whether an allocation, and so a vPOD, can have this many IPUs."""
    return ipus in (4, 8, 16, 32) or (ipus > 0 and ipus % IPUS_PER_ILD == 0)


def is_partition_size(ipus: int) -> bool:
    """Whether a partition can have this many IPUs (32 is not in the guide's list, but is used in practice)."""
    return ipus in (1, 2) or is_allocation_size(ipus)


def partition_findings(
    ipus: int, gcds: int | None, replicas: int | None, reconfigurable: bool
) -> Iterator[tuple[str, str]]:
    """What no V-IPU controller would accept of a partition: field and a sentence that says what would be right."""
    if not is_partition_size(ipus):
        yield "ipus", f"{ipus} IPUs do not exist as a partition; use {PARTITION_SIZES}"
    if gcds is not None and ipus % gcds:
        yield "gcds", f"{ipus} IPUs cannot be split into {gcds} equal GCDs; use a divisor of {ipus}"
    if replicas is not None and ipus % replicas:
        yield "replicas", f"{ipus} IPUs cannot be split into {replicas} equal replicas; use a divisor of {ipus}"
    if reconfigurable and ipus > RECONFIGURABLE_MOST_IPUS:
        yield "reconfigurable", f"a reconfigurable partition has at most {RECONFIGURABLE_MOST_IPUS} IPUs, not {ipus}"
    if reconfigurable and (gcds or 1) > 1:
        yield "gcds", f"a reconfigurable partition has one GCD, not {gcds}; leave it out"
