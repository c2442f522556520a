# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packets between simulated machines: who reaches whom, and what a change loses."""
