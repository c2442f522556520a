# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The life of vPODs: what a run changes for each, what that interrupts, and the way down. Pure."""
