# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every client of a V-IPU controller can do, whatever it speaks: a program (:mod:`.cli`) or gRPC."""

from __future__ import annotations

from typing import Any, Protocol, Sequence

from .._plan.steps import Fields, State, Step


class Client(Protocol):
    """One controller. Every method raises :class:`DeviceError` where the controller refuses or does not answer."""

    @property
    def kinds(self) -> Sequence[str]:
        """The kinds of entities that this client can read, parents first."""

    def read(self, kinds: Sequence[str]) -> State:
        """Everything of these kinds, with one request per kind."""

    def carry_out(self, step: Step) -> None:
        """Create or remove one entity and wait until that is done."""

    def reset_partition(self, name: str) -> None:
        """Reset a partition and wait until it is ACTIVE again. Whatever runs on it ends."""

    def partition_status(self, name: str) -> Fields:
        """``status`` of one partition; also ``operation``, ``errors`` and ``auto_resets``, if it tells them."""

    def ipuof_configuration(self, name: str, gcd: int) -> dict[str, Any]:
        """What Poplar needs to know of one GCD of a partition: ``devices`` and ``attributes``."""

    def ipu_attributes(self) -> dict[str, dict[int, dict[str, str]]]:
        """Agent name to number of the IPU to its attributes."""

    def server_version(self) -> str:
        """The controller's V-IPU release, for example ``1.18.0``."""
