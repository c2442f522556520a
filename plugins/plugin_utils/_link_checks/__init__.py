# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether both ends of a cable agree: a Poplar server's NIC and its port of the ToR switch. Pure.

Begin with ``every_cable``. A check of two ends that were seen or declared (``ends``) is a function of ``mismatches``.
``cables`` finds which port a NIC is on, ``addresses`` who else has an address.
"""
