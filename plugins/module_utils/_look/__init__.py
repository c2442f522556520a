# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The RDMA NICs of a Poplar server: settings parsed and rendered, and the back ends that change them."""
