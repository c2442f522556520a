# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which IPU-Machines each vPOD gets, and what else would fit. Pure."""
