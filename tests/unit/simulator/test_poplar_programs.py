# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""gc-monitor and gc-inventory of simulated servers: the IPUs of the IPUoF configuration, and of no other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from podsim import poplar_programs


@pytest.fixture(name="configuration")
def _configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An IPUoF configuration of two IPUs each of two IPU-Machines, which a program's environment names."""
    devices = [
        {"ip": f"10.5.1.{machine}", "device_id": ipu, "chip_id": f"0024.000{machine}-{ipu}"}
        for machine in (1, 2)
        for ipu in (3, 2)
    ]
    path = tmp_path / "own.conf"
    path.write_text(json.dumps({"devices": devices, "attributes": {"Partition Id": "train"}}))
    monkeypatch.setattr("os.environ", {"IPUOF_CONFIG_PATH": str(path), "HOME": str(tmp_path)})
    return path


def said(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """The JSON that a program says."""
    assert poplar_programs.main(words[0], words[1:]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.usefixtures("configuration")
def test_the_monitor_has_the_ipus_of_each_machine_numbered_as_in_the_partition(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, second = said(capsys, "gc-monitor", "-j")["cards"]
    assert (first["IPU-M"], second["IPU-M"]) == ("10.5.1.1", "10.5.1.2")
    assert first["ipus"] == [
        {"ID": "0", "PCIe ID": "3", "Serial": "0024.0001-3"},
        {"ID": "1", "PCIe ID": "2", "Serial": "0024.0001-2"},
    ]
    assert [ipu["ID"] for ipu in second["ipus"]] == ["2", "3"]


@pytest.mark.usefixtures("configuration")
def test_the_inventory_has_the_same_ipus_all_idle(capsys: pytest.CaptureFixture[str]) -> None:
    devices = said(capsys, "gc-inventory", "-2")["devices"]
    assert [(device["id"], device["ipuof host"], device["pci id"]) for device in devices] == [
        ("0", "10.5.1.1", "3"),
        ("1", "10.5.1.1", "2"),
        ("2", "10.5.1.2", "3"),
        ("3", "10.5.1.2", "2"),
    ]
    assert {device["ipu utilisation"] for device in devices} == {"0.00%"}
    assert {value for device in devices for key, value in device.items() if "active size" in key} == {"0"}


def test_without_an_environment_the_first_file_of_the_machine_counts(
    configuration: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    system = tmp_path / "etc"
    system.mkdir()
    (system / "b.conf").write_text('{"devices": []}')
    configuration.rename(system / "a.conf")
    monkeypatch.setattr("os.environ", {"HOME": str(tmp_path)})
    monkeypatch.setattr("podsim.ipuof_settings.SYSTEM_DIRECTORY", system)
    assert len(said(capsys, "gc-monitor", "-j")["cards"]) == 2


def test_the_version_needs_no_partition(capsys: pytest.CaptureFixture[str]) -> None:
    assert poplar_programs.main("gc-monitor", ["version"]) == 0
    assert capsys.readouterr().out == "Poplar version: 3.3.0\n"


@pytest.mark.parametrize("program", ["gc-monitor", "gc-inventory"])
def test_each_says_how_it_is_used(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert poplar_programs.main(program, ["--help"]) == 0
    assert capsys.readouterr().out.startswith(f"usage: {program} ")


@pytest.mark.usefixtures("configuration")
@pytest.mark.parametrize(
    ("program", "arguments", "words"),
    [
        ("gc-monitor", ["-x"], "-x"),
        ("gc-monitor", ["-j", "-j"], "-j -j"),
        ("gc-monitor", ["-2"], "-2"),
        ("gc-monitor", [], "without options"),
        ("gc-inventory", ["version"], "version"),
    ],
)
def test_what_it_does_not_know_is_refused(
    program: str, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert poplar_programs.main(program, arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith(f"{program}: {words} is unknown here\nusage: {program} ")


def test_without_a_partition_it_says_so(configuration: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configuration.unlink()
    assert poplar_programs.main("gc-monitor", ["-j"]) == 1
    assert capsys.readouterr().err == (
        f"gc-monitor: the IPUoF configuration {configuration} cannot be read: No such file or directory.\n"
    )
