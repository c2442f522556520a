# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks a server's own tools who has RDMA queue pairs."""

from __future__ import annotations

from typing import Sequence

from .programs import Programs
from .uses import Uses, netdevs_from, queue_pairs_from


def rdma_uses(programs: Programs, rdma_devices: Sequence[str]) -> Uses:
    """The queue pairs on a server's RDMA devices; without such devices nobody is asked.

    Raises:
        DeviceError: a tool's answer could not be read.
    """
    if not rdma_devices:
        return Uses()
    pairs = programs.answer(["rdma", "-j", "resource", "show", "qp"])
    return Uses(
        netdevs=netdevs_from(programs.answer(["rdma", "-j", "link", "show"]) or ""),
        queue_pairs=None if pairs is None else queue_pairs_from(pairs),
    )
