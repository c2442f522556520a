# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ordinary things that roles write to hosts, as data: one place for the decision and for the tasks that write."""
