# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The callback ipu.pod.steps in a run of ansible-playbook: what it hands to localhost, and the exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).resolve().parents[2]
SECRET = "hunter2"

ROLE = """
- name: Two files
  ansible.builtin.copy: {content: "{{ item }}", dest: "{{ directory }}/{{ item }}", mode: "0644"}
  loop: [one, two]
- name: A key
  ansible.builtin.copy: {content: SECRET, dest: "{{ directory }}/key", mode: "0600"}
  no_log: true
- name: A device that is in order
  ansible.builtin.file: {path: "{{ directory }}", state: directory}
- name: What cannot be read
  ansible.builtin.fail: {msg: "the first sentence"}
  ignore_errors: true
- name: What then cannot be read either
  ansible.builtin.fail: {msg: "the second sentence"}
  ignore_errors: true
- name: A command that check mode leaves out
  ansible.builtin.command: {cmd: "true"}
  changed_when: true
"""
PLAYBOOK = """
- hosts: server
  gather_facts: false
  check_mode: "{{ dry }}"
  diff: true
  roles: [poplar_host]
- hosts: lost
  gather_facts: false
  ignore_unreachable: true
  tasks:
    - ansible.builtin.ping:
- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.copy:
        content: "{{ {'run': ipu_pod_run, 'steps': ipu_pod_steps, 'looked_at': ipu_pod_looked_at,
                      'unseen': ipu_pod_unseen_devices} | to_json }}"
        dest: "{{ directory }}/../handed.json"
        mode: "0644"
    - ansible.builtin.set_stats: {data: {exit_code: "{{ code }}"}}
      when: code is defined
"""


@pytest.fixture
def play(tmp_path: Path) -> Any:
    (tmp_path / "roles" / "poplar_host" / "tasks").mkdir(parents=True)
    (tmp_path / "roles" / "poplar_host" / "tasks" / "main.yml").write_text(ROLE.replace("SECRET", SECRET))
    (tmp_path / "play.yml").write_text(PLAYBOOK)
    (tmp_path / "there").mkdir()
    (tmp_path / "inventory.ini").write_text(
        f"server ansible_connection=local ansible_python_interpreter={sys.executable}\n"
        # A port at which nobody listens.
        "lost ansible_host=127.0.0.1 ansible_port=1 ansible_connection=ssh\n"
    )

    def run(**variables: Any) -> tuple[int, dict[str, Any], str]:
        done = subprocess.run(
            [
                Path(sys.executable).parent / "ansible-playbook",
                "-i",
                tmp_path / "inventory.ini",
                tmp_path / "play.yml",
                "-e",
                json.dumps({"directory": str(tmp_path / "there"), **variables}),
            ],
            cwd=PROJECT,
            env={**os.environ, "ANSIBLE_INVENTORY_ENABLED": "ini"},
            capture_output=True,
            text=True,
            check=False,
        )
        handed = tmp_path / "handed.json"
        assert handed.exists(), done.stdout + done.stderr
        return done.returncode, json.loads(handed.read_text()), str(tmp_path / "there")

    return run


@pytest.mark.parametrize("dry", [True, False])
def test_steps_things_and_first_failures_are_handed_over(play: Any, dry: bool) -> None:
    code, handed, there = play(dry=dry)
    assert code == 0
    files = [("file", f"{there}/{name}") for name in ("one", "two", "key")]
    last = ("task", "A command that check mode leaves out")
    assert [(step["kind"], step["name"]) for step in handed["steps"]] == [*files, last]
    assert {(step["device"], step["layer"], step["foretold"]) for step in handed["steps"]} == {
        ("server", "server", dry)
    }
    assert handed["looked_at"] == {"server": {"file": [name for _, name in files] + [there], "task": [last[1]]}}
    assert SECRET not in json.dumps(handed)
    assert [each["device"] for each in handed["unseen"]] == ["server", "lost"]
    assert handed["unseen"][0]["message"] == "the first sentence"
    assert handed["run"]["playbook"] == "play"


@pytest.mark.parametrize("code", [0, 1, 2])
def test_the_run_ends_with_the_code_that_was_asked_for(play: Any, code: int) -> None:
    assert play(dry=True, code=code)[0] == code
