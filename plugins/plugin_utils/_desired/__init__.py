# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The desired state of every device of a pod, with one owner for each thing: the pod, a vPOD, or somebody else. Pure.

Begin with ``desired``. Its parts are what ``switches`` and ``controllers`` should have, the VLANs of vPODs
(``tenant_vlans``), lossless Ethernet (``roce``), containers, and what excluded IPU-Machines leave undone.
"""
