# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers of IPUs that allocations, partitions, GCDs and replicas can have, by the V-IPU guides."""

from __future__ import annotations

from typing import Iterator

IPUS_PER_MACHINE = 4
IPUS_PER_ILD = 64
MACHINES_PER_ILD = IPUS_PER_ILD // IPUS_PER_MACHINE
RECONFIGURABLE_MOST_IPUS = 64

ALLOCATION_SIZES = "4, 8, 16, 32, 64 and multiples of 64"
PARTITION_SIZES = "1, 2, 4, 8, 16, 32, 64 and multiples of 64"
STRICT_PARTITION_SIZES = "1, 2, 4, 8, 16, 64 and multiples of 64"
GCD_SIZES = (1, 2, 4, 8, 16, 32, 64)
REPLICA_SIZES = (1, 2, 4)
# In practice 32 is used, but the guide's lists of partitions and GCDs leave it out.
NOT_IN_THE_GUIDE = 32


def is_allocation_size(ipus: int) -> bool:
    """True if an allocation, and so a vPOD, can have this many IPUs."""
    return ipus in (4, 8, 16, 32) or (ipus > 0 and ipus % IPUS_PER_ILD == 0)


def is_partition_size(ipus: int) -> bool:
    """True if a partition can have this many IPUs."""
    return ipus in (1, 2) or is_allocation_size(ipus)


def partition_findings(
    ipus: int, gcds: int | None, replicas: int | None, reconfigurable: bool
) -> Iterator[tuple[str, str]]:
    """Field and sentence for everything in a partition that no V-IPU controller would accept."""
    if not is_partition_size(ipus):
        yield "ipus", f"{ipus} IPUs do not exist as a partition; use {PARTITION_SIZES}"
    if gcds is not None and (gcds < 1 or ipus % gcds):
        yield "gcds", f"{ipus} IPUs cannot be split into {gcds} equal GCDs; use a divisor of {ipus}"
    elif is_partition_size(ipus) and ipus // (gcds or 1) not in GCD_SIZES:
        share = f"{ipus} IPUs in {gcds or 1} GCDs are {ipus // (gcds or 1)} each"
        yield "gcds", f"{share}, but a GCD has 1, 2, 4, 8, 16, 32 or 64; use a number of GCDs that gives one of these"
    if replicas is not None and (replicas < 1 or ipus % replicas):
        yield "replicas", f"{ipus} IPUs cannot be split into {replicas} equal replicas; use a divisor of {ipus}"
    if reconfigurable and ipus > RECONFIGURABLE_MOST_IPUS:
        yield "reconfigurable", f"a reconfigurable partition has at most {RECONFIGURABLE_MOST_IPUS} IPUs, not {ipus}"
    if reconfigurable and (gcds or 1) > 1:
        yield "gcds", f"a reconfigurable partition has one GCD, not {gcds}; leave it out"


def replica_findings(
    ipus: int, gcds: int | None, replicas: int | None, option: str = "any_replica_size"
) -> Iterator[tuple[str, str]]:
    """Field and sentence for a declared number of replicas against the guide; by default each GCD is one, of any size.

    ``option`` is where that rule is switched off.
    """
    if replicas is None or replicas < 1 or ipus % replicas:
        return
    if ipus // replicas not in REPLICA_SIZES:
        yield (
            "replicas",
            f"{replicas} replicas of {ipus // replicas} IPUs each do not exist; a replica has 1, 2 or 4 IPUs: leave "
            f"replicas out for one per GCD, or set {option}",
        )
    elif gcds and replicas % gcds:
        yield "replicas", f"{replicas} replicas cannot be spread over {gcds} GCDs; use a multiple of {gcds}"


def strict_findings(ipus: int, gcds: int | None, option: str = "strict_sizes") -> Iterator[tuple[str, str]]:
    """Field and sentence for 32 IPUs in a partition or a GCD, used in practice and not in the lists of the guide.

    ``option`` is where that strictness is switched on.
    """
    if ipus == NOT_IN_THE_GUIDE:
        yield "ipus", f"{ipus} is not in the guide's list ({STRICT_PARTITION_SIZES}); unset {option} to use it"
    elif gcds and ipus == gcds * NOT_IN_THE_GUIDE:
        yield "gcds", f"GCDs of {NOT_IN_THE_GUIDE} IPUs are not in the guide's list; unset {option} to use them"
