# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan as one HTML page, with a picture of each rack. Pure.

Begin with ``page``: the summary, a table of the steps, and the pictures. ``rack`` is what stands in a rack, as data,
``rack_picture`` draws it.
"""
