# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether both ends of a cable agree: a Poplar server's NIC and its port of the ToR switch. Pure."""
