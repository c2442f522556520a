# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The secrets of a run, with which its modules tell things apart that nobody is shown."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible import constants

from ansible_collections.ipu.pod.plugins.action import look, tor_switch
from ansible_collections.ipu.pod.plugins.module_utils._tor.options import ARGUMENT_SPEC
from ansible_collections.ipu.pod.plugins.modules import host_look
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.persistent_connection import SwitchModule
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.run_folder import RunFolder


@pytest.fixture(autouse=True)
def _folder_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "DEFAULT_LOCAL_TMP", str(tmp_path))


def test_a_switch_is_changed_with_its_own_key_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SwitchModule, "run", lambda self, _tmp, _variables: self._task.args)

    def asked(switch: str) -> Any:
        action = tor_switch.ActionModule(SimpleNamespace(args={"confirm": False}), *[None] * 5)
        return action.run(task_vars={"inventory_hostname": switch})

    assert asked("p-tor") == {"confirm": False, "run_key": RunFolder().key("p-tor")}
    assert asked("q-tor")["run_key"] not in ("", asked("p-tor")["run_key"])


def test_all_hosts_are_looked_at_with_one_key_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = []
    monkeypatch.setattr(look, "settings_of", lambda *_: {})
    monkeypatch.setattr(look, "asked_of_host", lambda *_: {"parts": []})
    monkeypatch.setattr(look, "load_extra_vars", lambda _loader: {})
    monkeypatch.setattr(
        look.ActionModule, "_execute_module", lambda _self, **asked: keys.append(asked["module_args"]["run_key"]) or {}
    )
    for host in ("p-poplar1", "p-ctrl"):
        action = look.ActionModule(SimpleNamespace(args={}), *[None] * 5)
        action.result({"host": None, "parts": None}, {"inventory_hostname": host, "group_names": []})
    assert keys == [RunFolder().key(look.SECRETS)] * 2


def test_no_journal_has_a_key() -> None:
    """Modules write their options there, but for these."""
    specs = (host_look.ARGUMENTS, ARGUMENT_SPEC)
    assert [spec["run_key"]["no_log"] for spec in specs] == [True, True]
