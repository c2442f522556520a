# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The terminal: what a person or a client sees who types over SSH."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import asyncssh
import pytest

from podsim.eos.hardware import DCS_7060CX_32S
from podsim.eos.releases import DEFAULT_RELEASE
from podsim.eos.switch import NoDataPlane, Switch
from podsim.eos.terminal import Terminal
from tests.contract.eos_simulator.conftest import PASSWORD, USER, RunningSwitch

Start = Callable[..., RunningSwitch]


def new_switch(directory: Path, enable_password: str | None = None) -> Switch:
    data_plane = NoDataPlane(DCS_7060CX_32S.ports)
    files = (directory / "running", directory / "startup")
    return Switch(*files, DCS_7060CX_32S, DEFAULT_RELEASE, data_plane, "tor1", enable_password)


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(new_switch(tmp_path), USER)


def typed(terminal: Terminal, *lines: str) -> list[str]:
    """The output of each line, without its own echo."""
    shown = [terminal.type(f"{line}\r") for line in lines]
    return [text.removeprefix(f"{line}\r\n") for line, text in zip(lines, shown, strict=True)]


def test_the_prompt_tells_the_mode(terminal: Terminal) -> None:
    assert terminal.greeting() == "\r\ntor1>"
    lines = ("enable", "configure session change", "int et9/1", "vlan 10", "qos profile P", "uc-tx-queue 3", "end")
    assert typed(terminal, *lines) == [
        *("tor1#", "tor1(config-s-change)#", "tor1(config-s-change-if-Et9/1)#", "tor1(config-s-change-vlan-10)#"),
        *("tor1(config-s-change-qos-profile-P)#", "tor1(config-s-change-qos-profile-P-txq-3)#", "tor1#"),
    ]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("frobnicate", "% Invalid input"),
        ("show", "% Incomplete command"),
        ("configure", "% Invalid input (privileged mode required)"),
        ("show hostname | include FQDN", "FQDN:     tor1"),
        ("show hostname | begin FQ", "FQDN:     tor1"),
        ("terminal width 512", "Width set to 512 columns."),
    ],
)
def test_answers(terminal: Terminal, line: str, shown: str) -> None:
    assert typed(terminal, line) == [f"{shown}\r\ntor1>"]


def test_json_on_the_terminal(terminal: Terminal) -> None:
    good, bad, chained = typed(terminal, "show hostname | json", "show frob | json", "show hostname | json | no-more")
    assert json.loads(good.removesuffix("tor1>")) == {"hostname": "tor1", "fqdn": "tor1"}
    assert json.loads(bad.removesuffix("tor1>")) == {"errors": ["Invalid input (at token 1: 'frob')"]}
    assert chained == good


def test_keys(terminal: Terminal) -> None:
    assert terminal.type("shoz\x7fw\x03") == "shoz\b \bw^C\r\ntor1>"
    assert terminal.type("enable\r\nshow privilege\r\n").endswith("Current privilege level is 15\r\ntor1#")
    assert not terminal.closed
    terminal.type("\x04")
    assert terminal.closed


def test_enable_asks_for_its_password_and_does_not_echo_it(tmp_path: Path) -> None:
    terminal = Terminal(new_switch(tmp_path, enable_password="open"), USER)
    assert typed(terminal, "enable") == ["Password: "]
    assert terminal.type("shut\r") == "\r\n% Bad secret\r\ntor1>"
    terminal.type("enable\r")
    assert terminal.type("open\r") == "\r\ntor1#"


def test_a_banner_takes_lines_until_eof(terminal: Terminal) -> None:
    typed(terminal, "enable", "configure", "banner login", "No entry.", "EOF", "end")
    assert "banner login\r\nNo entry.\r\nEOF\r\n" in typed(terminal, "show running-config")[0]


def test_a_session_outlives_the_login(tmp_path: Path) -> None:
    switch = new_switch(tmp_path)
    typed(Terminal(switch, USER), "enable", "configure session s", "vlan 10", "logout")
    assert switch.sessions.by_name["s"].state == "pending"
    assert typed(Terminal(switch, USER), "enable", "configure session s", "commit")[-1] == "tor1#"
    assert switch.running.blocks("vlan")[1].line == "vlan 10"


def test_reload_asks_first(tmp_path: Path) -> None:
    switch = new_switch(tmp_path)
    terminal = Terminal(switch, USER)
    typed(terminal, "enable", "configure", "vlan 10", "end")
    assert typed(terminal, "reload") == ["Proceed with reload? [confirm]"]
    typed(terminal, "no")
    assert len(switch.running.blocks("vlan")) == 2
    typed(terminal, "reload", "y")
    assert len(switch.running.blocks("vlan")) == 1


def test_reload_boots_from_startup_config(start_switch: Start) -> None:
    switch = start_switch("--ssh", "127.0.0.1:0")
    switch.run("configure", "vlan 10", "write memory", "vlan 11")
    switch.run("configure session left", "vlan 12")
    switch.run("configure session timed", "vlan 13", "commit timer 00:05:00")
    asyncio.run(_logged_in_while(switch.ssh_port, lambda: _reload(switch)))
    version, sessions = switch.run("show version", "show configuration sessions")
    assert switch.section("^vlan") == "vlan 10\n"
    assert sessions["sessions"] == {}
    assert version["uptime"] < 60


def _reload(switch: RunningSwitch) -> None:
    with pytest.raises(ConnectionError):
        switch.run("reload now")


async def _logged_in_while(port: int, happens: Callable[[], None]) -> None:
    """Log in; when that happens, the connection must drop."""
    options = asyncssh.SSHClientConnectionOptions(username=USER, password=PASSWORD, known_hosts=None)
    async with asyncssh.connect("127.0.0.1", port, options=options) as connection:
        process = await connection.create_process(term_type="vt100")
        assert await process.stdout.readuntil(">") == "\r\ntor1>"
        await asyncio.to_thread(happens)
        with pytest.raises(asyncssh.ConnectionLost):
            await process.stdout.read()


def test_ssh_refuses_a_wrong_password_and_keeps_its_host_key(start_switch: Start, tmp_path: Path) -> None:
    keys = []
    for _ in range(2):
        switch = start_switch("--ssh", "127.0.0.1:0")
        key = asyncio.run(asyncssh.get_server_host_key("127.0.0.1", switch.ssh_port))
        assert key
        keys.append(key.export_public_key())
        switch.stop()
    assert keys[0] == keys[1]
    assert (tmp_path / "running.ssh_host_key").stat().st_mode & 0o777 == 0o600
    switch = start_switch("--ssh", "127.0.0.1:0")
    with pytest.raises(asyncssh.PermissionDenied):
        asyncio.run(_log_in(switch.ssh_port, "wrong"))


async def _log_in(port: int, password: str) -> None:
    options = asyncssh.SSHClientConnectionOptions(username=USER, password=password, known_hosts=None)
    async with asyncssh.connect("127.0.0.1", port, options=options):
        pass


def test_ssh_goes_with_the_management_port(start_switch: Start) -> None:
    switch = start_switch("--ssh", "127.0.0.1:0")
    port = switch.ssh_port
    switch.run("configure session s", "interface Management1", "shutdown", "commit timer 00:00:02")
    with pytest.raises((asyncssh.Error, ConnectionError)):
        asyncio.run(_log_in(port, PASSWORD))
