# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lossless side of a Poplar server's RDMA NICs: PFC, ECN, DSCP, RoCE mode.

``declared`` is what the owner wants, ``survey`` what is there; ``plan`` makes the steps between them, by the ``rules``.
Both ``tool_sets``, ``ofed`` and ``inbox``, say what to ask and to run, and ``client`` does it. ``boot`` brings the
settings back with the device. ``inspection`` only looks.
"""
