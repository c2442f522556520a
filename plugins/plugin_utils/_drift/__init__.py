# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Declared against actual, without a change: the report of playbooks/drift.yml. Pure.

Begin with ``drift``. ``ignore_rules`` is drift that its owner knows of, ``junit`` is the report for a CI server, and
``not_ours`` lists what nobody has declared and a run leaves alone.
"""
