# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Slurm's configuration as found on a host: read, not changed.

``site`` says what is there and who wrote it, from ``conf``, Slurm's files with all that they include; ``host_list`` is
Slurm's spelling of many names; ``paths`` says where our files are. The control node decides what is to be written.
"""
