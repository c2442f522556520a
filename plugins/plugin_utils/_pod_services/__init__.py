# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""DHCP, time and syslog for a pod, in ``configurations``: what the role pod_services writes. Pure."""
