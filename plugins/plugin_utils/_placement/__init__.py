# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which IPU-Machines each vPOD gets, and what else would fit. Pure.

Begin with :mod:`placement`. It knows a cluster by :mod:`cluster_space`, takes of its free :mod:`blocks`, and stays
within reach of the servers (:mod:`racks`). :mod:`capacity` answers how much is free, and what stands in the way.
"""
