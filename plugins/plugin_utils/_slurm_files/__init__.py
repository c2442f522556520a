# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that Slurm and its hooks get for a vPOD, and how they go with what a site has already.

Begin with :mod:`plan`: from what was read of a site to the files of the role slurm, or why not. :mod:`settings` is what
the hooks are told of the vPOD, :mod:`included` what slurm.conf includes, :mod:`gres` and :mod:`lua` count IPUs,
:mod:`program` builds the one file that Slurm runs.
"""
