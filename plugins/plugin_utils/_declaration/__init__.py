# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From pods.yml to a declaration without contradictions. Pure.

Begin with ``declaration``: it reads each key, fills in defaults, and asks ``consistency`` what cannot be true at the
same time. Every refusal has its key path and what would be right.
"""
