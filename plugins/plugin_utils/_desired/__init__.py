# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every device of a pod should be, with one owner for each thing. Pure."""
