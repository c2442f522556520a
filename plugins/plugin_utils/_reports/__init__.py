# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans and runs as people read them. Pure.

Begin with ``plan_document``: the plan with its numbered steps, their risk, and whose work they are about (``impact``).
``table`` shows it in a terminal, ``markdown`` on a merge request. ``run_report`` has the lines of a run. What all of
them spell alike is in ``wording``.
"""
