# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host has of Slurm already, and where the role slurm puts its files.

Begin with :mod:`site`; :mod:`conf` reads Slurm's configuration files, :mod:`paths` is where ours are.
"""
