# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs that hosts run by themselves, for Slurm or for a timer, as files.

``build`` makes them on the control node, of the parts of module_utils that each needs.
"""
