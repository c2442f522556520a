# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pod as its owner declared it, and what follows from that alone: devices, addresses, ports, hosts. Pure."""
