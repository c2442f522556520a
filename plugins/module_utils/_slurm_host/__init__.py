# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the role slurm writes for a vPOD, and how it goes with what a site has in Slurm's files already."""
