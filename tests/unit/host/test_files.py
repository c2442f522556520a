# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files are written as a whole with their owner and mode, and never through a link."""

from __future__ import annotations

import grp
import os
import pwd
from pathlib import Path

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File, Files, NotPlain, check_ownership
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused

ME = pwd.getpwuid(os.getuid()).pw_name
MY_GROUP = grp.getgrgid(os.getgid()).gr_name


def test_written_file_reads_back_and_nothing_else_stays(tmp_path: Path) -> None:
    files = Files(str(tmp_path))
    file = File("one\r\ntwo\n", ME, MY_GROUP, "0640")
    files.write("/etc/ipu/a.env", File("old\n", ME, MY_GROUP, "0600"))
    files.write("/etc/ipu/a.env", file)
    assert files.read("/etc/ipu/a.env") == file
    assert files.names("/etc/ipu") == ["a.env"]
    files.put("/etc/ipu/a.env", None)
    assert files.read("/etc/ipu/a.env") is None
    assert files.names("/etc/none") == []


def test_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    files = Files(str(tmp_path))
    (tmp_path / "etc").write_text("a file where a folder should be")
    with pytest.raises(DeviceError, match=r"/etc/a\.env could not be written"):
        files.write("/etc/a.env", File("", ME, MY_GROUP))
    assert os.listdir(tmp_path) == ["etc"]


def test_what_a_reset_in_the_middle_of_a_write_leaves_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def reset(_old: str, _new: str) -> None:
        raise SystemExit

    files = Files(str(tmp_path))
    monkeypatch.setattr(os, "replace", reset)
    monkeypatch.setattr(os, "unlink", lambda _path: None)
    with pytest.raises(SystemExit):
        files.write("/etc/a.conf", File("new", ME, MY_GROUP))
    (tmp_path / "etc" / ".profile").touch()
    ((left, wanted),) = files.unfinished("/etc").items()
    assert wanted == "/etc/a.conf"
    assert files.read(left) == File("new", ME, MY_GROUP, "0644")


def test_when_a_file_was_written(tmp_path: Path) -> None:
    files = Files(str(tmp_path))
    (tmp_path / "a").touch()
    os.utime(tmp_path / "a", ns=(0, 1_500_000_000))
    assert files.modified("/a") == 1_500_000_000
    assert files.modified("/none") is None


def test_links_and_binary_files_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for name in ("link", "binary"):
        with pytest.raises(NotPlain, match="move it away"):
            Files(str(tmp_path)).read(f"/{name}")


@pytest.mark.parametrize(
    ("owner", "group", "mode", "message"),
    [
        ("no-such-user", MY_GROUP, "0644", "owner: there is no user 'no-such-user' on this host"),
        (ME, "no-such-group", "0644", "group: there is no group 'no-such-group' on this host"),
        (ME, MY_GROUP, "420", "file_mode: '420' is no mode; write four octal digits in quotes, like '0644'"),
    ],
)
def test_wrong_ownership_is_refused(owner: str, group: str, mode: str, message: str) -> None:
    with pytest.raises(Refused) as refused:
        check_ownership(owner, group, mode)
    assert message in str(refused.value)
