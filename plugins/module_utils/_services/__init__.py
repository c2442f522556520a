# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""DHCP on a network: who is served, and who serves already.

Begin with :mod:`dhcp_probe`, which asks without taking a lease. :mod:`dhcp_hosts` are the IPU-Machines that are served.
"""
