# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The releases of other systems that this collection was tried with, and how: the table is in ``releases``.

``warnings`` tells what of a pod is outside of it.
"""
