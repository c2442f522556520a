# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which IPU-Machines each vPOD gets, and what else would fit. Pure.

Begin with ``placement``. It knows a cluster by ``cluster_space``, takes of its free ``blocks``, and stays within reach
of the servers (``racks``). ``capacity`` answers how much is free, and what stands in the way.
"""
