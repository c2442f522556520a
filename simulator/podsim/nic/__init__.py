# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand-ins for a ConnectX NIC's lossless settings and for the tools that read and set them.

A container's interfaces are veth pairs without any of that. The stand-ins keep what they are told, as the mlx5 driver
does, and are as strict as the real tools; they have no influence on packets. What they forget at power-off is what a
real NIC forgets.
"""
