# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What people read of a plan and of a run. Pure.

Begin with :mod:`plan_document`: the plan with its numbered steps, their risk, and whose work they are about
(:mod:`impact`). :mod:`table` shows it in a terminal, :mod:`markdown` on a merge request. :mod:`run_report` and
:mod:`step_lines` are the lines of a run. What all of them spell alike is in :mod:`wording`.
"""
