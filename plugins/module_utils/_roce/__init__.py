# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lossless side of a Poplar server's RDMA NICs: rules, two sets of tools, and what brings it back at boot."""
