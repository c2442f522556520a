# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program that removes partitions of deleted virtual machines, shipped to a V-IPU controller's host as one file.

``program`` is its entry, which a timer starts. ``decision`` is pure: whose a partition is, and when it may go.
``openstack`` asks Keystone and Nova, ``settings`` and ``records`` are its files.
"""
