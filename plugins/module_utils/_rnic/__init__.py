# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The network side of a Poplar server's RDMA NICs: interfaces, VLANs, bonds, addresses, virtual functions.

``declared`` is what the owner wants, ``server`` what is there; ``plan`` makes the steps between them, after ``targets``
and ``change`` have refused what must not be touched. ``backends`` chooses who writes the files: ``networkd``,
``netplan`` or ``network_manager``, each by a ``profile``. ``client`` does it; ``checkpoint`` and ``undo`` take it back
where nobody confirms it.
"""
