# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Slurm runs so that its jobs have IPUs: on the Slurm controller, which decides, and on the nodes."""
