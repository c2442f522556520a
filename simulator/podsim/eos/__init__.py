# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A strict simulated Arista EOS switch: eAPI, configuration sessions, and an Open vSwitch data plane."""
