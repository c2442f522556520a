# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""eAPI, sessions, timers and files, over HTTP as a client sees them."""

from __future__ import annotations

import http.client
import json
import re
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.contract.eos_simulator.conftest import RunningSwitch
from tests.support.processes import wait_until

Start = Callable[..., RunningSwitch]


def test_an_error_carries_the_results_before_it(switch: RunningSwitch) -> None:
    error = switch.call("show hostname", "show nonsense", "show version")["error"]
    assert error == {
        "code": 1002,
        "message": "CLI command 2 of 3 'show nonsense' failed: invalid command",
        "data": [{"hostname": "tor1", "fqdn": "tor1"}, {"errors": ["Invalid input (at token 1: 'nonsense')"]}],
    }


def test_privileged_commands_need_enable(switch: RunningSwitch) -> None:
    for command in ("configure", "show running-config", "write memory"):
        assert switch.call(command)["error"]["data"][-1]["errors"] == ["Invalid input (privileged mode required)"]
    assert "result" in switch.call({"cmd": "enable", "input": "x"}, {"cmd": "show startup-config", "revision": 1})


def test_an_operator_looks_and_does_not_configure(switch: RunningSwitch) -> None:
    def says(*commands: str, password: str = "look") -> dict[str, Any]:
        params = {"version": 1, "format": "text", "cmds": ["enable", *commands]}
        body = json.dumps({"jsonrpc": "2.0", "id": "1", "method": "runCmds", "params": params}).encode()
        with urllib.request.urlopen(switch.request(body, password, "viewer"), timeout=10) as response:
            answer: dict[str, Any] = json.load(response)
        return answer

    switch.run("configure", "username viewer privilege 15 role network-operator secret 0 look")
    # A role counts only where commands are authorized.
    assert "result" in says("configure", "vlan 7")
    switch.run("configure", "aaa authorization commands all default local")
    assert "result" in says("show running-config")
    for commands in (["configure"], ["configure session s"], ["configure session s abort"]):
        error = says(*commands)["error"]
        assert (error["code"], error["data"][-1]["errors"]) == (
            1005,
            [f"Authorization denied for command '{commands[0]}'"],
        )
    with pytest.raises(urllib.error.HTTPError, match="401"):
        says("show version", password="guess")
    assert "result" in switch.call("enable", "configure", "vlan 8")


def test_text_only_commands_have_no_json(switch: RunningSwitch) -> None:
    assert switch.refusal("configure session s", "show session-config diffs")[0] == 1003


def test_abbreviations_need_auto_complete(switch: RunningSwitch) -> None:
    assert switch.call("sh ver")["error"]["code"] == 1002
    assert "result" in switch.call("en", "sh ver", "conf t", "int Et9/1", "desc x", autoComplete=True)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"[]", -32600),
        (b'{"jsonrpc": "2.0", "method": "runCmd", "params": {}, "id": 1}', -32601),
        (b'{"jsonrpc": "2.0", "method": "runCmds", "params": {"version": 1, "cmds": "show version"}, "id": 1}', -32602),
        (b'{"jsonrpc": "2.0", "method": "runCmds", "params": {"version": 1, "cmds": [], "x": 1}, "id": 1}', -32602),
    ],
)
def test_malformed_requests(switch: RunningSwitch, body: bytes, code: int) -> None:
    with urllib.request.urlopen(switch.request(body), timeout=10) as response:
        assert json.load(response)["error"]["code"] == code


def test_a_wrong_password_is_refused(switch: RunningSwitch) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(switch.request(b"{}", password="wrong"), timeout=10)
    assert refused.value.code == 401


def test_a_session_changes_nothing_before_its_commit(switch: RunningSwitch) -> None:
    switch.run("configure session s", "vlan 10", "name alice")
    assert switch.section("^vlan") == ""
    assert switch.run("show configuration sessions")[0]["sessions"]["s"]["state"] == "pending"
    diff = switch.run("show session-config named s diffs", encoding="text")[0]
    assert diff.startswith("--- system:/running-config\n+++ session:/s-session-config\n")
    assert {line for line in diff.splitlines()[2:] if line[0] == "+"} == {"+vlan 10", "+   name alice", "+!"}
    switch.run("configure session s", "vlan 10", "name bob", "exit", "commit")
    assert switch.section("^vlan") == "vlan 10\n   name bob\n"
    assert switch.refusal("configure session s") == (1000, "Cannot enter session s (already completed)")


def test_an_aborted_session_is_gone(switch: RunningSwitch) -> None:
    switch.run("configure session s", "vlan 10", "abort")
    assert switch.run("show configuration sessions")[0]["sessions"] == {}
    assert switch.refusal("configure session s commit") == (1000, "Session s does not exist")


def test_pending_sessions_are_limited(switch: RunningSwitch) -> None:
    for number in range(5):
        switch.run(f"configure session s{number}")
    assert switch.refusal("configure session s5")[1].startswith("Maximum number of pending sessions has been reached")


def test_a_confirmed_timer_keeps_the_change(switch: RunningSwitch) -> None:
    switch.run("configure session s", "vlan 10", "commit timer 00:00:01")
    switch.run("configure session s commit")
    switch.run("configure session later", "vlan 11", "commit timer 00:00:01")
    wait_until(lambda: switch.section("^vlan") == "vlan 10\n")


def test_an_expired_timer_restores_the_configuration(switch: RunningSwitch) -> None:
    files = switch.files()
    switch.run("configure session s", "vlan 10", "commit timer 00:00:01")
    pending, version = switch.run("show configuration sessions detail", "show version")
    assert pending["sessions"]["s"]["state"] == "pendingCommitTimer"
    assert 0 < pending["sessions"]["s"]["commitBy"] - version["uptime"] < 1.1
    wait_until(lambda: switch.section("^vlan") == "")
    assert switch.files() == files
    assert switch.run("show configuration sessions")[0]["sessions"]["s"]["state"] == "completed"


def test_only_one_timer_runs(switch: RunningSwitch) -> None:
    switch.run("configure session s", "vlan 10", "commit timer 00:05:00")
    assert switch.refusal("configure session t", "vlan 11", "commit timer 00:05:00")[0] == 1000
    switch.run("configure session s abort")
    assert switch.section("^vlan") == ""


def test_newer_releases_name_the_timed_session(start_switch: Start) -> None:
    switch = start_switch("--release", "4.34.1F")
    assert "commitTimerSessionName" not in switch.run("show configuration sessions detail")[0]
    switch.run("configure session s", "commit timer 00:05:00")
    assert switch.run("show configuration sessions detail")[0]["commitTimerSessionName"] == "s"


def test_an_older_release_keeps_its_spelling(start_switch: Start) -> None:
    switch = start_switch("--release", "4.13.7M")
    port = "interface Ethernet9/1"
    switch.run("configure session s", port, "priority-flow-control mode on")
    diff = switch.run("show session-config named s diffs", encoding="text")[0]
    assert "+   priority-flow-control mode on\n" in diff
    switch.run("configure session s commit", "write memory")
    assert "priority-flow-control mode on" in switch.run("show running-config")[0]["cmds"][port]["cmds"]
    assert switch.refusal("configure", port, "priority-flow-control on")[0] == 1002
    switch.stop()
    assert "priority-flow-control mode on" in start_switch("--release", "4.13.7M").section("Ethernet9/1$")
    assert "priority-flow-control on" in start_switch("--release", "4.28.3M").section("Ethernet9/1$")


def test_enable_with_a_password(start_switch: Start) -> None:
    switch = start_switch("--enable-password", "open")
    for wrong in ("enable", {"cmd": "enable", "input": "shut"}):
        assert switch.call(wrong, "show startup-config")["error"]["code"] == 1000
    assert "result" in switch.call({"cmd": "enable", "input": "open"}, "show startup-config")


def test_an_unconfirmed_change_does_not_survive_a_restart(start_switch: Start) -> None:
    switch = start_switch()
    switch.run("configure", "vlan 9")
    switch.run("configure session s", "vlan 10", "commit timer 00:05:00")
    assert switch.stop() == 0
    assert start_switch().section("^vlan") == "vlan 9\n"


def test_a_change_that_cuts_the_management_path_undoes_itself(switch: RunningSwitch) -> None:
    switch.run("configure session s", "interface Management1", "shutdown", "commit timer 00:00:02")
    assert not _answers(switch)
    wait_until(lambda: _answers(switch))
    assert switch.section("Management1") == "interface Management1\n"


def _answers(switch: RunningSwitch) -> bool:
    try:
        switch.run("show version")
    except (http.client.RemoteDisconnected, ConnectionError):
        return False
    return True


def test_rollback_clean_config(switch: RunningSwitch) -> None:
    switch.run("configure", "vlan 10", "hostname other")
    api = ("management api http-commands", "no shutdown", "exit")
    switch.run("configure session s", "rollback clean-config", "hostname tor1", *api, "commit")
    assert switch.section("^vlan|^hostname") == "hostname tor1\n"


def test_startup_config_and_flash(switch: RunningSwitch) -> None:
    switch.run("copy running-config flash:before", "configure", "vlan 10", "end", "copy running-config startup-config")
    shown = switch.run("show startup-config", encoding="text")[0]
    assert "vlan 10" in shown
    assert re.match("! Command: show startup-config\n! Startup-config last modified at .* by admin\n! device: ", shown)
    assert switch.run("show running-config diffs", encoding="text") == [""]
    switch.run("configure replace flash:before")
    assert switch.section("^vlan") == ""
    assert switch.refusal("copy flash:nowhere running-config")[0] == 1000


def test_the_json_form_of_the_running_configuration(switch: RunningSwitch) -> None:
    switch.run("configure", "vlan 10", "name alice")
    config = switch.run("show running-config")[0]
    assert config["cmds"]["vlan 10"] == {"comments": [], "cmds": {"name alice": None}}


def test_the_request_log_tells_writes_and_no_secrets(start_switch: Start, tmp_path: Path) -> None:
    switch = start_switch("--request-log", str(tmp_path / "log"))
    switch.call({"cmd": "enable", "input": "hidden"}, "show version")
    switch.run("configure", "vlan 10")
    text = (tmp_path / "log").read_text()
    entries = [json.loads(line) for line in text.splitlines()]
    assert [(entry["commands"], entry["write"]) for entry in entries] == [
        (["enable", "show version"], False),
        (["enable", "configure", "vlan 10"], True),
    ]
    assert "hidden" not in text


def test_tls(start_switch: Start, tmp_path: Path) -> None:
    files = ["-keyout", str(tmp_path / "key"), "-out", str(tmp_path / "cert")]
    names = ["-subj", "/CN=tor1", "-addext", "subjectAltName=IP:127.0.0.1"]
    make = ["openssl", "req", "-x509", "-nodes", "-newkey", "rsa:2048", *files, *names]
    subprocess.run(make, check=True, capture_output=True)
    switch = start_switch("--cert", str(tmp_path / "cert"), "--key", str(tmp_path / "key"))
    context = ssl.create_default_context(cafile=str(tmp_path / "cert"))
    with urllib.request.urlopen(switch.request(b"{}"), timeout=10, context=context) as response:
        assert response.status == 200


def test_a_broken_configuration_file_is_refused_at_start(start_switch: Start, tmp_path: Path) -> None:
    (tmp_path / "running").write_text("interface Ethernet9/1\n   mtu lots\n")
    with pytest.raises(AssertionError, match=r"running: configuration line 'mtu lots': Invalid input"):
        start_switch()
