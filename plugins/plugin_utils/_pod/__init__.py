# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The types of pods.yml, and the values that follow from it alone. Pure.

Begin with ``model``; ``kinds`` has what values, keys and mappings can be, and the refusals. ``devices`` has each device
with its addresses and ports, which follow from its number by ``rack_plan``; ``ports`` says what each port of the ToR is
for. ``managed`` is what a run may change.
"""
