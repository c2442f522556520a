# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory that follows from a declaration: hosts, their variables, groups, and the stages of a run. Pure."""
