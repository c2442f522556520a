# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who changes a pod: one run at a time, and a record of what each did."""
