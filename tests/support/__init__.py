# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Helpers that tests of several folders share: simulated devices and their hosts, runs of playbooks, packets."""
