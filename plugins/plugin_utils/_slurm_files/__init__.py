# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that Slurm and its hooks get for a vPOD, and how they go with what a site has already.

Begin with ``plan``: from what was read of a site to the files of the role slurm, or why not. ``settings`` is what the
hooks get of the vPOD, ``conf`` is slurm.conf and what it includes, and ``lua`` is for what users ask of their
jobs.
"""
