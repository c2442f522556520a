# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a session knows of its own server and of its way to others, with real sockets, processes and pipes."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._ipu_run import here, parts
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.here import Client, is_here, is_there, listens, reach
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.parts import Link, Parts, ssh_words
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.user import User
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError

ROOT = User("root", 0, 0, "/root", None)
ANN = User("ann", 1001, 1002, "/home/ann", ("ann", "alice"))


def test_the_names_and_addresses_of_this_server() -> None:
    own = socket.gethostname().partition(".")[0]
    assert [is_here(name) for name in (own, f"{own}.lab", "127.0.0.1", "localhost")] == [True] * 4
    # Of documentation, so nobody's; and of nobody.
    assert [is_here(name) for name in ("192.0.2.1", "no-such-server.invalid")] == [False, False]


def test_who_listens_is_seen() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert listens(os.getpid(), port)
    assert not listens(os.getpid(), port)
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    assert (is_there(os.getpid()), is_there(ended.pid), listens(ended.pid, port)) == (True, False, False)


def test_a_part_is_started_as_the_user_and_with_no_question() -> None:
    words = ssh_words("pod001-poplar2", ANN)
    assert words[:5] == ["setpriv", "--reuid=1001", "--regid=1002", "--init-groups", "--"]
    assert words[5] == "ssh"
    assert "BatchMode=yes" in words
    assert words[-5:] == ["pod001-poplar2", "sudo", "--non-interactive", "/usr/local/bin/ipu-run", "--part"]
    assert ssh_words("pod001-poplar2", ROOT)[-3:] == ["pod001-poplar2", "/usr/local/bin/ipu-run", "--part"]
    assert ssh_words("pod001-poplar2", ROOT)[0] == "ssh"


def by_shell(monkeypatch: pytest.MonkeyPatch, script: str) -> Link:
    monkeypatch.setattr(here, "ssh_words", lambda _server, _user: ["sh", "-c", script])
    return reach("pod001-poplar2", ROOT)


def test_lines_come_from_the_other_end_and_go_there(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Parts([by_shell(monkeypatch, 'read line; echo "it said $line"; cat >/dev/null')])
    found.tell(["hello"])
    assert found.answers() == [("pod001-poplar2", "it said hello")]
    found.end()


def test_an_interrupt_at_the_terminal_is_not_for_the_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    script = "read number name state parent group session rest </proc/$$/stat; echo $session; cat >/dev/null"
    found = Parts([by_shell(monkeypatch, script)])
    ((_server, session),) = found.answers()
    assert int(session) != os.getsid(0)
    found.end()


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo 'ipu-run: not here; go there' >&2", "not here; go there"),
        ("echo first >&2; echo 'ssh: No route' >&2; echo >&2", "ssh: No route"),
        ("true", "its ipu-run has ended without a word"),
        ("head -c 100000 /dev/zero", "its ipu-run says more than there is to say"),
    ],
)
def test_the_last_words_of_a_part_say_why_it_ended(monkeypatch: pytest.MonkeyPatch, script: str, said: str) -> None:
    found = Parts([by_shell(monkeypatch, script)])
    with pytest.raises(DeviceError) as ended:
        found.answers()
    assert str(ended.value) == f"server pod001-poplar2: {said}"
    found.end()


def test_a_program_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(here, "ssh_words", lambda _server, _user: ["no-such-ssh"])
    with pytest.raises(DeviceError, match=r"^no-such-ssh could not be run on this server: No such file or directory$"):
        reach("pod001-poplar2", ROOT)


def test_parts_hear_of_the_first_server_all_the_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """They would end without it; so they do when it stands still, or when nothing comes through any more."""
    monkeypatch.setattr(parts, "BEAT", 0.01)
    link = by_shell(monkeypatch, f"read hello; read beat; read beat; echo alive; cat >{tmp_path}/rest")
    found = Parts([link])
    found.tell(["hello"])
    assert found.answers() == [("pod001-poplar2", "alive")]
    found.end()


def test_a_client_ends_with_the_status_of_its_command() -> None:
    ended = Client(["sh", "-c", "exit 7"])
    ended.end()
    killed = Client(["sh", "-c", "kill -9 $$"])
    killed.end()
    assert (ended.status(), killed.status()) == (7, 128 + 9)
