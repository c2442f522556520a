# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""DHCP, time and syslog for a pod, as configurations of dnsmasq, chrony and rsyslog; and who serves DHCP already."""
