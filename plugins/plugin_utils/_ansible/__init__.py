# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the plugins of the control node get from Ansible and keep for a run; the one room that imports it."""
