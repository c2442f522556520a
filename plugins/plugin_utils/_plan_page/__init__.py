# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan as one HTML page with a picture of the racks. Pure."""
