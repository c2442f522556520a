# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the module tor_switch over a connection of its own."""

from __future__ import annotations

from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.persistent_connection import SwitchModule


class ActionModule(SwitchModule):
    """The module of the same name does all of it."""
