# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole plan of a run, from what is declared and what the devices have answered. Pure.

Begin with ``decision``. It refuses what ``contradictions`` finds; ``tenancy`` says what becomes of vPODs, and
``stage_steps`` plans stage after stage, with a file for each kind of device. ``reach`` refuses a plan after a stage of
which a vPOD's VLAN would reach too far. What a look asks for is in ``look_options``. The plays get ``stage_members``;
people get ``views``.
"""
