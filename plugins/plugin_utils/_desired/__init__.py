# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every device of a pod should be, with one owner for each thing: the pod, a vPOD, or somebody else. Pure.

Begin with :mod:`desired`. Its parts are what :mod:`switches` and :mod:`controllers` should have, the VLANs of vPODs
(:mod:`tenant_vlans`), lossless Ethernet (:mod:`roce`), containers, and what excluded IPU-Machines leave undone.
"""
