# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole plan of a run, from what is declared and what the devices have answered. Pure.

Begin with :mod:`decision`. It refuses what :mod:`contradictions` finds; :mod:`tenancy` says what becomes of vPODs, and
:mod:`layers` plans stage after stage, with a file for each kind of device. What a look asks for is in
:mod:`look_options`. The plays get :mod:`stage_members`; people get :mod:`document` and :mod:`views`.
"""
