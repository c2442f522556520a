# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Desired against actual, as an ordered plan: the one way in which every module of the collection changes something.

Begin with ``converge``: read, plan, apply, read again; check mode stops after the plan. ``steps`` is what a plan is
made of, ``module`` how a module begins and ends.
"""
