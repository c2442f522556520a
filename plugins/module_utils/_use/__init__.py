# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs on a Poplar server right now, and would end if its network or its IPUs went."""
