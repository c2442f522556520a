# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The switch in a simulated RNIC: what it does with its virtual functions, and what its server sees of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from podsim.floor import functions
from podsim.floor.facts_file import facts_from
from podsim.floor.functions import Nic
from podsim.floor.machines import make_device_classes
from podsim.floor.plan import plan
from podsim.floor.state import StateDirectory
from tests.support.checkout import ROOT

PODS_FILE = ROOT / "inventories" / "sim_pod64" / "pods.yml"
SERVER = "pod001-poplar4"
MAC = "02:00:0a:05:01:68"


class Bed:
    """An RNIC of at most four functions; what is told to Open vSwitch is only written down."""

    def __init__(self, folder: Path) -> None:
        sim = yaml.safe_load(PODS_FILE.read_text(encoding="utf-8"))["sim"]
        floor = plan(facts_from({**sim, "virtual_functions": {SERVER: {"rnic0": 4}}}))
        state = StateDirectory(folder)
        make_device_classes(floor, state)
        server = next(machine for machine in floor.machines if machine.name == SERVER)
        switch = server.rnics[0].embedded_switch
        assert switch is not None
        self.nic = Nic(server, server.rnics[0], switch, state)
        self.told: list[str] = []

    def tell(self, *words: str) -> str:
        self.told.append(" ".join(word for word in words if not word.startswith(("--db", "--timeout", "unix:"))))
        return ""

    def write(self, number: int) -> str:
        """The server writes a number of functions. Returns what it reads afterwards."""
        file = self.nic.folder / "sriov_numvfs"
        file.write_text(f"{number}\n")
        self.nic.follow()
        return file.read_text().strip()

    @property
    def devices(self) -> list[str]:
        return sorted(path.name for path in self.nic.folder.parent.parent.iterdir() if "v" in path.name)


@pytest.fixture(name="bed")
def _bed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bed:
    bed = Bed(tmp_path)
    ignore: Callable[..., Any] = lambda *_words, **_more: None  # noqa: E731
    monkeypatch.setattr(functions, "run", bed.tell)
    for name in ("ip_batch", "add_data_plane_cable", "disable_transmit_checksum"):
        monkeypatch.setattr(functions, name, ignore)
    return bed


def test_a_server_has_as_many_functions_as_it_has_written(bed: Bed) -> None:
    assert (bed.write(4), bed.devices) == ("4", [f"rnic0v{number}" for number in range(4)])
    function = bed.nic.folder / "virtfn1"
    assert [path.name for path in (function / "net").iterdir()] == ["rnic0v1"]
    assert [path.name for path in (function / "infiniband_verbs").iterdir()] == ["uverbs2"]
    assert (bed.write(0), bed.devices) == ("0", [])
    assert bed.write(2) == "2"


@pytest.mark.parametrize("number", [2, 5])
def test_another_number_is_taken_only_after_none_and_up_to_what_the_firmware_allows(bed: Bed, number: int) -> None:
    bed.write(4)
    assert bed.write(number) == "4"
    bed.write(0)
    assert bed.write(5) == "0"


def test_a_function_in_a_vlan_tags_its_frames_and_leaves_with_its_own_mac_address_alone(bed: Bed) -> None:
    bed.write(4)
    bed.told.clear()
    assert bed.nic.set(1, ["mac", MAC, "vlan", "201", "trust", "off", "spoofchk", "on"]) == ""
    assert bed.told == [
        "ovs-vsctl set port psn5-0v1 tag=201 vlan_mode=access",
        "ovs-ofctl del-flows in_port=11",
        f"ovs-ofctl add-flow priority=100,in_port=11,dl_src={MAC},actions=normal",
        "ovs-ofctl add-flow priority=90,in_port=11,actions=drop",
    ]
    shown = bed.nic.functions[1].shown(1)
    assert (shown["address"], shown["vlan_list"], shown["spoofchk"], shown["trust"]) == (
        MAC,
        [{"vlan": 201}],
        True,
        False,
    )
    bed.told.clear()
    assert bed.nic.set(1, ["spoofchk", "off", "vlan", "0"]) == ""
    assert bed.told == ["ovs-vsctl set port psn5-0v1 tag=[] vlan_mode=[]", "ovs-ofctl del-flows in_port=11"]


@pytest.mark.parametrize(
    ("number", "words"),
    [(4, ["vlan", "201"]), (0, []), (0, ["vlan"]), (0, ["vlan", "4095"]), (0, ["rate", "5"]), (0, ["trust", "yes"])],
)
def test_what_the_kernel_does_not_know_is_an_error(bed: Bed, number: int, words: list[str]) -> None:
    bed.write(4)
    assert bed.nic.set(number, words).startswith(("RTNETLINK answers: Invalid argument", "Error: argument "))
