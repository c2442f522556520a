# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The RNIC ports of vPODs on libvirt domains, which a hypervisor plugs in and unplugs as they run.

``planner`` makes the steps between what is wanted and what is there; ``xml`` reads and writes libvirt's words, and
``hypervisor`` asks libvirt and Open vSwitch, and does it.
"""
