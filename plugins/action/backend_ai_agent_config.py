# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Allows the IPU plugin in the configuration file of Backend.AI's agent, and leaves the rest of it as it is."""

from __future__ import annotations

import base64
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.copying import CopyingAction
from ansible_collections.ipu.pod.plugins.plugin_utils._backend_ai_files.agent_toml import with_plugin

OPTIONS = {"path": {"type": "path", "required": True}, "scratch_root": {"type": "str", "default": ""}}


class ActionModule(CopyingAction):
    """The file has etcd's password, so its text is in no option and in no result."""

    spec = OPTIONS

    def result(self, options: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """Whether it changed."""
        path = options["path"]
        answer: dict[str, Any] = self._execute_module("ansible.legacy.slurp", {"src": path}, task_vars=variables)
        if "content" not in answer:
            raise Refused(f"{path} cannot be read ({answer.get('msg')}); install Backend.AI's agent first")
        before = base64.b64decode(answer["content"])
        try:
            text = with_plugin(before.decode(), path, options["scratch_root"])
        except UnicodeDecodeError:
            raise Refused(f"{path} is not written in UTF-8; correct it") from None
        if text.encode() == before:
            return {"path": path}
        result = self.copied(text.encode(), path, variables)
        return {name: result[name] for name in ("changed", "failed", "msg") if name in result} | {"path": path}
