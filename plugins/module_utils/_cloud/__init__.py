# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What vPODs are in an OpenStack cloud: projects, networks, flavors, machines, and what keeps them apart.

Begin with ``planner``: what is wanted (``wanted``) against what a look has found (``found``), as ordered steps; all of
that is pure. ``look`` reads a cloud in bulk, ``apply`` carries the steps out, ``engine`` holds both together;
``messages`` says in one sentence what a service answers.
"""
