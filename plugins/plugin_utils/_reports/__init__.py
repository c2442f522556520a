# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What people look at before they touch a pod: plans, drift and findings, as documents, tables, pages. Pure."""
