# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a Poplar server has of Backend.AI's agent: its unit, its plugin, its networks, its sessions, its IPUs."""
