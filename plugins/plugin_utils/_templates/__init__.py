# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Templates of what the control node writes for people and services: pages, pictures, Markdown, configurations."""
