# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Slurm runs so that its jobs have IPUs; shipped to the Slurm controller and the nodes as one program.

Begin with :mod:`program`. :mod:`hooks` is what happens on the Slurm controller around a job, :mod:`node` on its nodes.
The four ways in which jobs get IPUs (:mod:`ways`) have a file each.
"""
