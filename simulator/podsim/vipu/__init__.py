# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated V-IPU: controller, command-line tools and the agent of an IPU-Machine.

Known behaviour follows the published documents; what they leave open is chosen here and said so in place.
"""
