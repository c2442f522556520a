# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Licences and reservations in the words of Slurm 22.05."""

from __future__ import annotations

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.slurm import Slurm

NO_RESERVATION = (1, "", "Reservation ipu-pod-out not found\n")
RESERVATION = (
    "ReservationName=ipu-pod-out StartTime=2026-11-22T11:10:32 EndTime=2027-11-22T11:10:32 Nodes=(null) NodeCnt=0 "
    "Flags=ANY_NODES TRES=(null) Users=root Licenses=ipu:12 State=ACTIVE BurstBuffer=(null)\n"
)


class Scontrol:
    """A scontrol with these answers to `show`; everything else it does without a word."""

    def __init__(self, **answers: tuple[int, str, str]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def run(self, argv: list[str], _text: str) -> tuple[int, str, str]:
        self.asked.append(" ".join(argv))
        return self.answers[argv[2]] if argv[1] == "show" else (0, "", "")


def test_what_is_free_is_neither_used_nor_held_out() -> None:
    output = "LicenseName=ipu Total=64 Used=40 Free=24 Reserved=12 Remote=no\n"
    assert Slurm(Scontrol(licenses=(0, output, "")).run).free_licenses() == 12
    # More may be held out than jobs have left.
    assert Slurm(Scontrol(licenses=(0, output.replace("=12", "=40"), "")).run).free_licenses() == 0


def test_what_is_held_out() -> None:
    assert Slurm(Scontrol(reservation=(0, RESERVATION, "")).run).held_out() == 12
    assert Slurm(Scontrol(reservation=NO_RESERVATION).run).held_out() == 0


def test_a_slurm_that_does_not_answer_has_not_nothing() -> None:
    with pytest.raises(DeviceError):
        Slurm(Scontrol(reservation=(1, "", "Access/permission denied")).run).held_out()


def test_licences_are_held_out_by_a_reservation_that_nobody_uses() -> None:
    none, some = Scontrol(reservation=NO_RESERVATION), Scontrol(reservation=(0, RESERVATION, ""))
    for scontrol, count in ((none, 4), (some, 8), (some, 0)):
        Slurm(scontrol.run).hold_out(count)
    created = "scontrol create reservation ReservationName=ipu-pod-out Licenses=ipu:4 Flags=LICENSE_ONLY Users=root"
    assert none.asked[1:] == [f"{created} StartTime=now Duration=infinite"]
    assert some.asked[1:] == [
        "scontrol update ReservationName=ipu-pod-out Licenses=ipu:8",
        "scontrol delete ReservationName=ipu-pod-out",
    ]


def test_owners_and_reasons_are_those_of_all_jobs() -> None:
    def squeue(argv: list[str], _text: str) -> tuple[int, str, str]:
        assert argv == ["squeue", "--noheader", "--all", "--format=%A|%u|%r"]
        return 0, "12|alice|None\n13|bob|Nodes required are DOWN, DRAINED\n", ""

    assert Slurm(squeue).owners_and_reasons() == {
        12: ("alice", "None"),
        13: ("bob", "Nodes required are DOWN, DRAINED"),
    }
