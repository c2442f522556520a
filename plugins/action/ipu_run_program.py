# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies ipu-run, which it builds here, to a host."""

from __future__ import annotations

from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.program_file import OPTIONS, ProgramAction
from ansible_collections.ipu.pod.plugins.plugin_utils._programs.build import IPU_RUN

__all__ = ["OPTIONS", "ActionModule"]


class ActionModule(ProgramAction):
    """The program is built of its room."""

    room = IPU_RUN
