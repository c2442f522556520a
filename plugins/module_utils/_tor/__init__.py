# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ToR switch: EOS configuration read and written (pure), and changed in sessions that undo themselves."""
