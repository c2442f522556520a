# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Declared against actual, without a change: the report of playbooks/drift.yml. Pure.

Begin with :mod:`drift`. :mod:`ignore_rules` is drift that its owner knows of, :mod:`junit` is the report for a CI
server, and :mod:`not_ours` lists what nobody has declared and a run leaves alone.
"""
