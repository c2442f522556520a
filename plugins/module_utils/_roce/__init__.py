# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lossless side of a Poplar server's RDMA NICs: PFC, trust, DSCP, buffers.

Begin with :mod:`plan` (pure). The settings and their order are in :mod:`settings`, what excludes each other in
:mod:`rules`, the two sets of tools in :mod:`inbox` and :mod:`ofed`, and what brings all back at boot in :mod:`boot`.
"""
