# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The free places of a cluster as aligned blocks, and which block to take so that the largest ones stay free. Pure.

A place is a number, counted through the IPU-Machines of a cluster, IPU-Link domain (ILD) by ILD. A block of up to one
ILD starts at a multiple of its size; a larger one is whole ILDs in a row. Blocks are ranges of places.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Iterator, Sequence
from functools import cache

from ansible_collections.ipu.pod.plugins.module_utils._vipu.sizes import MACHINES_PER_ILD


def is_block(places: Sequence[int]) -> bool:
    """Whether these places, in ascending order, are one block."""
    first, size = places[0], len(places)
    alignment = min(size, MACHINES_PER_ILD)
    in_a_row = list(places) == list(range(first, first + size))
    return in_a_row and first % alignment == 0 and (MACHINES_PER_ILD % size == 0 or size % MACHINES_PER_ILD == 0)


def blocks_of(size: int, first: int, stop: int) -> Iterator[range]:
    """Every block of ``size`` from ``first`` to before ``stop``, free or not, the lowest first."""
    step = min(size, MACHINES_PER_ILD)
    for start in range(-(-first // step) * step, stop - size + 1, step):
        yield range(start, start + size)


class FreeBlocks:
    """The free places of one cluster of so many, a multiple of those of an ILD.

    Every free place belongs to exactly one of :meth:`largest_first`: a block in an ILD whose neighbour of the same size
    is not wholly free, or a run of wholly free ILDs. Finding and taking a block does not look at the others.
    """

    def __init__(self, places: int, taken: Collection[int]) -> None:
        self._is_free = bytearray(b"\1" * places)
        for place in taken:
            self._is_free[place] = 0
        # By size below that of an ILD: where its blocks start, in ascending order.
        self._starts: dict[int, list[int]] = {size: [] for size in _SIZES_IN_ILD}
        self._runs = _Runs(places // MACHINES_PER_ILD)
        for ild in range(places // MACHINES_PER_ILD):
            self._add(ild)

    def is_free(self, block: range) -> bool:
        """Whether all places of a block are free."""
        return 0 not in self._is_free[block.start : block.stop]

    def free_beside(self, block: range) -> int:
        """How many of the two places beside a block are free."""
        return sum(self._is_free[block.stop : block.stop + 1]) + sum(
            self._is_free[max(0, block.start - 1) : block.start]
        )

    def best(self, size: int) -> range | None:
        """The block of ``size`` in the smallest free one that has room for it, the lowest of equal ones."""
        for there in _SIZES_IN_ILD:
            if size <= there and self._starts[there]:
                return range(self._starts[there][0], self._starts[there][0] + size)
        ild = self._runs.best(max(1, size // MACHINES_PER_ILD))
        return None if ild is None else range(ild * MACHINES_PER_ILD, ild * MACHINES_PER_ILD + size)

    def best_in(self, ild: int, size: int) -> range | None:
        """The same in one ILD, for a block that is not larger."""
        first = ild * MACHINES_PER_ILD
        fitting = [(there, start) for start, there in self._maximal(ild) if size <= there]
        return range(first + min(fitting)[1], first + min(fitting)[1] + size) if fitting else None

    def take(self, places: Collection[int]) -> None:
        """Take places that are free."""
        self._set(places, 0)

    def release(self, places: Collection[int]) -> None:
        """Give places back that are not free."""
        self._set(places, 1)

    def largest_first(self) -> list[range]:
        """All free places in as few blocks as possible, each a power of two in one ILD, or ILDs in a row."""
        runs = [range(first * MACHINES_PER_ILD, (first + ilds) * MACHINES_PER_ILD) for ilds, first in self._runs.sizes]
        small = [range(start, start + size) for size, starts in self._starts.items() for start in starts]
        return sorted([*runs, *small], key=lambda block: (-len(block), block.start))

    def _set(self, places: Collection[int], is_free: int) -> None:
        ilds = sorted({place // MACHINES_PER_ILD for place in places})
        for ild in ilds:
            self._remove(ild)
        for place in places:
            self._is_free[place] = is_free
        for ild in ilds:
            self._add(ild)

    def _maximal(self, ild: int) -> tuple[tuple[int, int], ...]:
        first = ild * MACHINES_PER_ILD
        return _maximal_blocks(bytes(self._is_free[first : first + MACHINES_PER_ILD]))

    def _add(self, ild: int) -> None:
        for start, size in self._maximal(ild):
            if size == MACHINES_PER_ILD:
                self._runs.add(ild)
            else:
                insort(self._starts[size], ild * MACHINES_PER_ILD + start)

    def _remove(self, ild: int) -> None:
        for start, size in self._maximal(ild):
            if size == MACHINES_PER_ILD:
                self._runs.remove(ild)
            else:
                _drop(self._starts[size], ild * MACHINES_PER_ILD + start)


class _Runs:
    """Wholly free ILDs, as runs of neighbours. The two ends of a run know how long it is."""

    def __init__(self, ilds: int) -> None:
        # One more on either side, which is never free.
        self._length = [0] * (ilds + 2)
        self._is_free = bytearray(ilds + 2)
        # How many ILDs and the first of them, the shortest run first.
        self.sizes: list[tuple[int, int]] = []

    def best(self, ilds: int) -> int | None:
        """The first ILD of the shortest run that has so many."""
        place = bisect_left(self.sizes, (ilds, -1))
        return self.sizes[place][1] if place < len(self.sizes) else None

    def add(self, ild: int) -> None:
        """An ILD has become free."""
        here = ild + 1
        left = self._length[here - 1] if self._is_free[here - 1] else 0
        right = self._length[here + 1] if self._is_free[here + 1] else 0
        self._forget(here - left, left)
        self._forget(here + 1, right)
        self._is_free[here] = 1
        self._remember(here - left, left + 1 + right)

    def remove(self, ild: int) -> None:
        """A free ILD is free no longer."""
        here = first = last = ild + 1
        while self._is_free[first - 1]:
            first -= 1
        last = first + self._length[first] - 1
        self._forget(first, last - first + 1)
        self._is_free[here] = 0
        self._remember(first, here - first)
        self._remember(here + 1, last - here)

    def _remember(self, first: int, length: int) -> None:
        if length:
            self._length[first] = self._length[first + length - 1] = length
            insort(self.sizes, (length, first - 1))

    def _forget(self, first: int, length: int) -> None:
        if length:
            _drop(self.sizes, (length, first - 1))


# The sizes of blocks that are a part of an ILD, the smallest first.
_SIZES_IN_ILD = (1, 2, 4, 8)


@cache
def _maximal_blocks(is_free: bytes) -> tuple[tuple[int, int], ...]:
    """Start and size of the free blocks of an ILD that are not part of a larger free one."""

    def within(start: int, size: int) -> Iterator[tuple[int, int]]:
        if 0 not in is_free[start : start + size]:
            yield start, size
        elif size > 1:
            yield from within(start, size // 2)
            yield from within(start + size // 2, size // 2)

    return tuple(within(0, len(is_free)))


def _drop(values: list, value: object) -> None:  # type: ignore[type-arg]
    del values[bisect_left(values, value)]
