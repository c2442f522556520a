# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ordinary resources that roles want on a host: files, units, packages, kernel parameters, as data. Pure.

Begin with ``resources``: what there is, and the steps that make it so. A file for each role says what it wants:
``poplar_server``, ``vipu_controller``, ``vpod``. The decision compares them with the look, and the tasks of the roles
write the same list (``plain_data``).
"""
