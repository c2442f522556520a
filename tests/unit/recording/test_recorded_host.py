# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is recorded of a device is understood later as it was then, without the device."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host.files import NotPlain
from ansible_collections.ipu.pod.plugins.module_utils._look.switch import look_at
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from ansible_collections.ipu.pod.plugins.module_utils._recording.facts import facts_of, messages_of, understood
from ansible_collections.ipu.pod.plugins.module_utils._recording.recording import (
    RecordedFiles,
    RecordedSysfs,
    Recording,
    kept,
    text_of,
)
from ansible_collections.ipu.pod.plugins.module_utils._recording.replay import Replay, ReplayedFiles, ReplayedSysfs
from ansible_collections.ipu.pod.plugins.module_utils._tor.session import CommandRefused
from tests.support.in_memory.switch import InProcessSwitch


def replay_of(recording: Recording) -> Replay:
    return Replay(json.loads(json.dumps(recording.entries)))


@pytest.mark.parametrize("unknown", [[], ["show priority-flow-control counters"], ["show startup-config"]])
def test_a_look_at_a_recorded_switch_is_the_look_at_the_switch(unknown: list[str]) -> None:
    switch, recording = InProcessSwitch(), Recording()
    switch.unknown = unknown
    parts = look_at(recording.send(switch.send), "", lambda: 0.0)
    record = {"kind": "switch", "answers": json.loads(json.dumps(recording.entries))}
    assert understood(record) == parts
    assert {entry["asked"][0] for entry in recording.entries} == {"text", "json"}


def test_a_program_is_recorded_with_its_failures_and_one_that_is_not_there_too() -> None:
    recording = Recording()

    def run(argv: list[str]) -> tuple[int, str, str]:
        if argv == ["none"]:
            raise FileNotFoundError(2, "No such file or directory")
        return 3, '{"a": [1]}', "no\n"

    recorded = recording.run(run)
    assert recorded(["some", "-x"]) == (3, '{"a": [1]}', "no\n")
    with pytest.raises(FileNotFoundError):
        recorded(["none"])
    replay = replay_of(recording)
    assert replay.run(["some", "-x"]) == (3, '{"a": [1]}', "no\n")
    with pytest.raises(OSError, match="No such file"):
        replay.run(["none"])
    with pytest.raises(DeviceError, match="the recording has no answer to: program another"):
        replay.run(["another"])


def test_files_are_recorded_as_they_are_and_as_they_are_not(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "a").write_text("one\ntwo\n")
    (tmp_path / "etc" / "link").symlink_to("a")
    recording = Recording()
    files = RecordedFiles(recording, str(tmp_path))
    with pytest.raises(NotPlain):
        files.read("/etc/link")
    found = [files.read("/etc/a"), files.read("/etc/none"), files.names("/etc"), files.kernels("/etc/a")]
    found.append(files.modified("/etc/a"))
    replayed = ReplayedFiles(replay_of(recording))
    again = [replayed.read("/etc/a"), replayed.read("/etc/none"), replayed.names("/etc"), replayed.kernels("/etc/a")]
    assert [*again, replayed.modified("/etc/a")] == found
    with pytest.raises(NotPlain):
        replayed.read("/etc/link")


def test_nics_are_recorded_with_their_functions(tmp_path: Path) -> None:
    device = tmp_path / "class/net/ens2f0/device"
    (device / "virtfn0/net/ens2f0v0").mkdir(parents=True)
    (device / "sriov_totalvfs").write_text("8\n")
    (tmp_path / "class/infiniband/mlx5_0").mkdir(parents=True)
    recording = Recording()
    sysfs = RecordedSysfs(recording, str(tmp_path))

    def asked(sysfs: RecordedSysfs | ReplayedSysfs) -> list[object]:
        listed = [sysfs.pci_addresses(), sysfs.rdma_devices(), sysfs.max_virtual_functions(), sysfs.mtu("ens2f0")]
        return [*listed, sysfs.functions("ens2f0")]

    found = asked(sysfs)
    assert found[1:3] == [["mlx5_0"], {"ens2f0": 8}]
    assert asked(ReplayedSysfs(replay_of(recording))) == found


def test_a_refused_command_is_refused_again() -> None:
    recording = Recording()

    def refuse(_commands: object, _output: str) -> list[str]:
        raise CommandRefused("% Invalid input")

    with pytest.raises(CommandRefused):
        recording.send(refuse)(["show vlan"], "json")
    with pytest.raises(CommandRefused, match="% Invalid input"):
        replay_of(recording).send(["show vlan"], "json")


@pytest.mark.parametrize("text", ["", "a\n", "a\n\nb", '{"a": 1}', "[broken", "{a}\n"])
def test_a_text_is_kept_as_it_is(text: str) -> None:
    assert text_of(json.loads(json.dumps(kept(text)))) == text


def test_facts_count_things_and_keep_messages() -> None:
    parts = {
        "links": {"links": {"a": {}, "b": {}}, "pending": False, "undone": None},
        "nics": {"message": "no"},
        "controllers": {"": {"agents": {"a": {}}}, "alice": {"message": "silent"}},
        "running_config": {"text": "a\nb\n"},
    }
    facts = facts_of(parts)
    assert facts == {
        "links": {"links": 2, "pending": False},
        "nics": {"message": "no"},
        "controllers 1": {"agents": 1},
        "controllers 2": {"message": "silent"},
        "running_config": {"text": 2},
    }
    assert messages_of(facts) == ["nics: no", "controllers 2: silent"]
