# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""DHCP for a pod: whom to serve with what, as configuration of dnsmasq; and whether somebody else serves already."""
