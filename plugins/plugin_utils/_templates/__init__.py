# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Templates of what the control node writes for people and services: pages, pictures, Markdown, configurations.

``render`` fills one by its name; texts of others are only values, escaped where it is a page or picture.
Begin with ``render.py``.
"""
