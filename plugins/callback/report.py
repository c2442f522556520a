# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Callback plugin: a run as a short report. Ansible's usual output with -v."""

from __future__ import annotations

DOCUMENTATION = r"""
name: report
short_description: A run of this collection's playbooks as a short report
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
type: stdout
extends_documentation_fragment:
  - default_callback
  - result_format_callback
requirements:
  - Set in the configuration, with C(stdout_callback = ipu.pod.report) below C([defaults]) of ansible.cfg.
description:
  - Shows the lines of M(ipu.pod.report), what M(ansible.builtin.debug) shows, the names of the stages that have
    something to do, the names of tasks that change something and are in no stage, warnings and failures.
  - With C(-v), everything that Ansible's own default shows.
"""

import re
from collections.abc import Mapping
from typing import Any

from ansible import constants
from ansible.plugins.callback.default import CallbackModule as Default

from ansible_collections.ipu.pod.plugins.module_utils._text.line import printable, visible
from ansible_collections.ipu.pod.plugins.module_utils._text.remedy import is_full, is_not_root, with_remedy

REPORT = "ipu.pod.report"
# As playbooks/phases/stages.yml calls its plays.
STAGE = re.compile(r"\d+/\d+ ")
# All that Ansible says of a command that has failed.
COMMAND_FAILED = "non-zero return code"
SHOWN = ("ansible.builtin.debug", "debug")


class CallbackModule(Default):
    """Shows the short report; leaves the output to Ansible's own callback where that is wanted."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "ipu.pod.report"

    def __init__(self) -> None:
        super().__init__()
        # The stage that has begun and is not shown yet, and the one shown last: each of its batches is a play, too.
        self._stage, self._shown, self._play_name = "", "", ""
        self._has_reported = self._changed = False

    @property
    def _is_usual(self) -> bool:
        return bool(self._display.verbosity)

    def v2_playbook_on_play_start(self, play: Any) -> None:
        """Remember which stage begins; whether it has anything to do, its first task shows."""
        if self._is_usual:
            super().v2_playbook_on_play_start(play)
            return
        name = self._play_name = play.get_name()
        self._stage = "" if name == self._shown else name

    def v2_playbook_on_task_start(self, task: Any, is_conditional: bool) -> None:
        """Show the stage whose first task begins; tasks are not shown."""
        if self._is_usual:
            super().v2_playbook_on_task_start(task, is_conditional)
        elif STAGE.match(self._stage):
            self._display.display(self._stage)
            self._shown, self._stage = self._stage, ""

    def v2_playbook_on_handler_task_start(self, task: Any) -> None:
        """Tasks are not shown."""
        if self._is_usual:
            super().v2_playbook_on_handler_task_start(task)

    def v2_playbook_on_include(self, included_file: Any) -> None:
        """Files are not shown."""
        if self._is_usual:
            super().v2_playbook_on_include(included_file)

    def v2_playbook_on_no_hosts_matched(self) -> None:
        """A stage without hosts is not shown."""
        if self._is_usual:
            super().v2_playbook_on_no_hosts_matched()

    def v2_playbook_on_no_hosts_remaining(self) -> None:
        """The failure has been told."""
        if self._is_usual:
            super().v2_playbook_on_no_hosts_remaining()

    def v2_runner_on_ok(self, result: Any) -> None:
        """Show the lines of a report, debug messages, and changes that no report has."""
        if self._is_usual:
            super().v2_runner_on_ok(result)
            return
        self._handle_warnings_and_exception(result)
        if result.task.action == REPORT:
            is_of_stage = result.task.args.get("view") == "stage"
            self._has_reported = True
            for line in map(printable, result.result.get("lines", ())):
                self._display.display(f"  {line}" if is_of_stage else line)
        elif result.task.action in SHOWN and not result.task.loop:
            self._show(result.result.get("msg", ""))
        elif result.result.get("changed") and not STAGE.match(self._play_name):
            self._changed = True
            self._display.display(f"{result.host.get_name()}: {result.task.get_name()}", color=constants.COLOR_CHANGED)

    def v2_runner_on_skipped(self, result: Any) -> None:
        """Skipped tasks are not shown."""
        if self._is_usual:
            super().v2_runner_on_skipped(result)

    def v2_runner_item_on_ok(self, result: Any) -> None:
        """Show the message of a task whose purpose is to show one."""
        if self._is_usual:
            super().v2_runner_item_on_ok(result)
        elif result.task.action in SHOWN:
            self._show(result.result.get("msg", ""))

    def v2_runner_item_on_skipped(self, result: Any) -> None:
        """Items are not shown."""
        if self._is_usual:
            super().v2_runner_item_on_skipped(result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        """Show the failure and its host; the decision reports ignored ones."""
        if self._is_usual:
            super().v2_runner_on_failed(result, ignore_errors=ignore_errors)
        elif not ignore_errors:
            self._show_failure(result)

    def v2_runner_item_on_failed(self, result: Any) -> None:
        """Show the failure and its host."""
        if self._is_usual:
            super().v2_runner_item_on_failed(result)
        elif not result.task.ignore_errors:
            self._show_failure(result)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        """Show the host that does not answer, unless the decision reports it."""
        if self._is_usual:
            super().v2_runner_on_unreachable(result)
        elif not result.task.ignore_unreachable:
            self._show_failure(result)

    def v2_playbook_on_stats(self, stats: Any) -> None:
        """Show nothing more, or after a failure which hosts failed."""
        if self._is_usual or stats.failures or stats.dark:
            super().v2_playbook_on_stats(stats)
        elif not self._has_reported and not self._changed:
            self._display.display("nothing changed")

    def _dump_results(self, *arguments: Any, **options: Any) -> str:
        """What Ansible's own output shows of a result."""
        return "\n".join(map(visible, super()._dump_results(*arguments, **options).split("\n")))

    def _show_failure(self, result: Any) -> None:
        output = result.result
        message = str(_message(output))
        # Of a loop, its items have said what happened.
        if result.task.loop and output.get("results") and "ansible_loop_var" not in output:
            return
        if output.get("unreachable") or is_not_root(message) or is_full(message):
            message = with_remedy(message)
        # Where a task was done for a host by another, both are named.
        place = f"{self.host_label(result)}: {result.task.get_name()}"
        self._display.display(f"FAILED {place}", color=constants.COLOR_ERROR, stderr=False)
        for line in map(printable, message.split("\n")):
            self._display.display(f"  {line}", color=constants.COLOR_ERROR)

    def _show(self, message: Any) -> None:
        for line in message if isinstance(message, list) else str(message).split("\n"):
            self._display.display(printable(str(line)))


def _message(output: Mapping[str, Any]) -> Any:
    """Why a task has failed: its message, or what its command has said."""
    if output.get("msg") == COMMAND_FAILED:
        said = str(output.get("stderr") or output.get("stdout") or "").strip()
        return f"exit code {output.get('rc')}: {said}" if said else f"exit code {output.get('rc')} without a word"
    return output.get("msg") or output.get("stderr") or output.get("censored") or "failed without a word"
