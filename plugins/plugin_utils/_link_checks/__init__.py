# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether both ends of a cable agree: a Poplar server's NIC and its port of the ToR switch. Pure.

Begin with :mod:`check`. A check of two ends that were seen or declared (:mod:`ends`) is a function of
:mod:`mismatches`. :mod:`cables` finds which port a NIC is on, :mod:`addresses` who else has an address.
"""
