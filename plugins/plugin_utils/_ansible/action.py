# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The base of action plugins: checked, plain options in, results out; a refusal fails the task with its message."""

from __future__ import annotations

from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ...module_utils._plan.converge import DeviceError, Refused
from .._pod.kinds import DeclarationError
from .plain import plain


class PodAction(ActionBase):
    """An action plugin has the ``spec`` of its options, as the module of its name documents them, and a ``result``."""

    spec: ClassVar[dict[str, Any]] = {}
    rules: ClassVar[dict[str, Any]] = {}
    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the ``result`` of the plugin; nothing is changed unless ``changed`` in it is true."""
        super().run(tmp, task_vars)
        _found, options = self.validate_argument_spec(self.spec, **self.rules)
        try:
            return {"changed": False, **self.result(plain(options), task_vars or {})}
        except DeclarationError as error:
            raise AnsibleActionFail("; ".join(error.problems)) from None
        except (Refused, DeviceError) as error:
            raise AnsibleActionFail(str(error)) from None

    def result(self, options: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """The return values, from the options and the variables of the task's host."""
        raise NotImplementedError
