# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory that follows from a declaration, as plugins/inventory/pods.py gives it to Ansible. Pure.

``hosts`` has the hosts, their variables and the groups, ``stages`` the stages of a run, each with its group. Their
names are public.
"""
