# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of pods.yml as options of the inventory plugin, from the one place where they stand."""

from __future__ import annotations

import json

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.documentation import plugin_options


class ModuleDocFragment:
    """JSON is YAML."""

    DOCUMENTATION: str = json.dumps({"options": plugin_options()})
