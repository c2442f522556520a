# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of a look about files, units, packages and kernel parameters."""

from __future__ import annotations

import getpass
import hashlib
import hmac
import os
from pathlib import Path

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host.programs import Programs
from ansible_collections.ipu.pod.plugins.module_utils._look.things import (
    kernel_parameters_from,
    packages_from,
    paths_from,
    secrets_from,
    texts_from,
    units_from,
)
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError

DEBIAN = {"distribution": "Ubuntu", "os_family": "Debian"}
RED_HAT = {"distribution": "Rocky", "os_family": "RedHat"}
UNITS = """\
LoadState=loaded
ActiveState=active
UnitFileState=enabled
ExecMainStartTimestampMonotonic=12500000
ActiveEnterTimestampMonotonic=13000000

LoadState=loaded
ActiveState=active
UnitFileState=static
ActiveEnterTimestampMonotonic=7000000

LoadState=not-found
ActiveState=inactive
UnitFileState=
ExecMainStartTimestampMonotonic=0
ActiveEnterTimestampMonotonic=0
"""


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def programs(**answers: tuple[int, str, str]) -> Programs:
    """Those that are installed, each with its answer whatever it is asked."""

    def run(argv: list[str]) -> tuple[int, str, str]:
        name = argv[0].replace("-", "_")
        if name not in answers:
            raise FileNotFoundError(2, "No such file or directory", argv[0])
        return answers[name]

    return Programs(run)


def test_each_kind_of_path_is_reported_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("text\n")
    file.chmod(0o640)
    os.utime(file, (0, 1700000000.5))
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "folder").mkdir(mode=0o700)
    os.mkfifo(tmp_path / "pipe")
    found = paths_from([f"{tmp_path}/*", f"{tmp_path}/nothing", f"{file}/below", f"{tmp_path}/none*", str(file)])
    assert {path.rpartition("/")[2]: seen["kind"] for path, seen in found.items()} == {
        "file": "file",
        "folder": "directory",
        "link": "link",
        "pipe": "other",
    }
    assert found[f"{tmp_path}/link"]["target"] == "file"
    assert found[f"{tmp_path}/folder"]["mode"] == "0700"
    assert found[str(file)] == {
        "kind": "file",
        "owner": getpass.getuser(),
        "group": file.group(),
        "mode": "0640",
        "modified": 1700000000.5,
        "sha256": sha256("text\n"),
    }


def test_texts_are_of_plain_files_and_not_too_long(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"caf\xe9\n")
    (tmp_path / "link").symlink_to("text")
    (tmp_path / "long").write_text("x" * (64 * 1024 + 1))
    (tmp_path / "to_pipe").symlink_to("pipe")
    os.mkfifo(tmp_path / "pipe")
    assert texts_from([f"{tmp_path}/*", f"{tmp_path}/nothing"]) == {
        f"{tmp_path}/link": "caf\ufffd\n",
        f"{tmp_path}/text": "caf\ufffd\n",
    }


@pytest.mark.parametrize(
    ("text", "shown", "key"),
    [
        ('a="b"\napi-access-key="s3cr=t"\nc="d"\n', 'a="b"\napi-access-key="(secret)"\nc="d"\n', "s3cr=t"),
        ("api-access-key = s3cret\n", "api-access-key = (secret)\n", "s3cret"),
        ('{\n  "api-access-key": "s3cret",\n  "x": 1\n}', '{\n  "api-access-key": "(secret)",\n  "x": 1\n}', "s3cret"),
        ('api-access-key="s3\\"cret"', 'api-access-key="(secret)"', 's3\\"cret'),
        ("s3cret\n", "(secret)", "s3cret"),
        ("-----BEGIN KEY-----\ns3cret\n", "(secret)", "-----BEGIN KEY-----\ns3cret"),
    ],
)
def test_a_secret_is_reported_by_what_only_its_run_compares(tmp_path: Path, text: str, shown: str, key: str) -> None:
    file = tmp_path / "client.hcl"
    file.write_text(text)
    digest = hmac.new(b"of the run", key.encode(), "sha256").hexdigest()
    assert secrets_from([str(file)], "of the run") == {str(file): {"text": shown, "secret": digest}}


def test_no_checksum_shows_whether_a_guess_is_right(tmp_path: Path) -> None:
    file = tmp_path / "alice.key"
    file.write_text("s3cret\n")
    file.chmod(0o600)
    for text in ("s3cret", "s3cret\n"):
        shown = f"{paths_from([str(file)], [f'{tmp_path}/*.key'])} {secrets_from([str(file)], 'of the run')}"
        assert sha256(text) not in shown
    assert "sha256" in paths_from([str(file)])[str(file)]
    file.chmod(0o644)
    assert "sha256" in paths_from([str(file)], [str(file)])[str(file)]


def test_a_text_that_was_asked_for_shows_no_access_key_either(tmp_path: Path) -> None:
    (tmp_path / "client.hcl").write_text('# ours\napi-access-key="s3cret"\n')
    assert texts_from([f"{tmp_path}/*"]) == {f"{tmp_path}/client.hcl": '# ours\napi-access-key="(secret)"\n'}


def test_units_with_their_starts() -> None:
    asked: list[list[str]] = []

    def run(argv: list[str]) -> tuple[int, str, str]:
        asked.append(argv)
        return 0, UNITS, ""

    names = ["c.service", "a.service", "b.service", "a.service"]
    found = units_from(Programs(run), names, clock=lambda: 1700000100.0, since_boot=lambda: 100.0)
    assert [argv[-3:] for argv in asked] == [["a.service", "b.service", "c.service"]]
    there = {"there": True, "active": "active", "enabled": True}
    assert found == {
        "a.service": {**there, "started": 12.5, "started_at": 1700000012.5},
        "b.service": {**there, "started": 7.0, "started_at": 1700000007.0},
        "c.service": {"there": False, "active": "inactive", "enabled": False, "started": None, "started_at": None},
    }


def test_units_without_an_answer_for_each_are_an_error() -> None:
    with pytest.raises(DeviceError, match="3 answers for 1 units"):
        units_from(programs(systemctl=(0, UNITS, "")), ["a.service"])
    with pytest.raises(DeviceError, match="bus"):
        units_from(programs(systemctl=(1, "", "Failed to connect to bus")), ["a.service"])


def test_packages_by_either_database() -> None:
    by_dpkg = programs(dpkg_query=(1, "bash installed\nvim config-files\n", "no packages found matching no"))
    by_rpm = programs(rpm=(1, "bash-5.1-1.x86_64\nno package provides no\nno package provides vim\n", ""))
    for host, distribution in ((by_dpkg, DEBIAN), (by_rpm, RED_HAT), (by_dpkg, RED_HAT)):
        found = packages_from(host, ["vim", "bash", "no"], distribution)
        assert found == {**distribution, "missing": ["no", "vim"], "unknown": False}


@pytest.mark.parametrize("host", [programs(), programs(dpkg_query=(2, "", "broken")), programs(rpm=(1, "", "broken"))])
def test_packages_that_nobody_knows(host: Programs) -> None:
    assert packages_from(host, ["bash"], DEBIAN) == {**DEBIAN, "missing": [], "unknown": True}


def test_kernel_parameters_as_they_run(tmp_path: Path) -> None:
    (tmp_path / "net/ipv4/conf/rnic0.101").mkdir(parents=True)
    (tmp_path / "net/ipv4/conf/rnic0.101/arp_ignore").write_text("1\n")
    (tmp_path / "net/ipv4/range").write_text("32768\t60999\n")
    names = ["net.ipv4.range", "net.ipv4.conf.rnic0/101.arp_ignore", "net.ipv4.nothing"]
    assert kernel_parameters_from(names, str(tmp_path)) == {
        "net.ipv4.range": "32768 60999",
        "net.ipv4.conf.rnic0/101.arp_ignore": "1",
    }
