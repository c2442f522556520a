# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The RDMA NICs of a Poplar server: addresses, VLANs, bonds and virtual functions.

Begin with :mod:`plan` (pure): from :mod:`declared` interfaces and the :mod:`server` to steps. Files are written by one
of three back ends: :mod:`networkd`, :mod:`netplan`, :mod:`network_manager`. A change that could cut the server off is
armed (:mod:`checkpoint`): the server puts everything back by itself (:mod:`undo`) unless it is confirmed.
"""
