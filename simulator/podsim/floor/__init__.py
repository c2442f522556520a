# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated pod's floor: image, containers, cables, switches' data plane, DHCP, and their lifecycle."""
