# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watch on the pod under chaos notices what must not be: on frames that were made up."""

from __future__ import annotations

from tests.support.packets.ports import Port
from tests.support.packets.watch import NOBODY, Frame, not_as_they_should, strangers_met

ADAS_SERVER, ADAS, BEAS_SERVER, MOVING, FREE = (
    Port(f"podsim-{name}", "rnic0", f"02:00:00:00:00:0{number}", f"10.5.1.{number}")
    for number, name in enumerate(("poplar1", "ipum1", "poplar2", "ipum2", "ipum3"))
)
MEANWHILE = {
    ADAS_SERVER: {"ada"},
    ADAS: {"ada"},
    BEAS_SERVER: {"bea"},
    MOVING: {"ada", "bea", NOBODY},
    FREE: {NOBODY},
}
AFTER = {ADAS_SERVER: "ada", ADAS: "ada", BEAS_SERVER: "bea", MOVING: "bea", FREE: NOBODY}


def test_tenants_do_not_meet_not_even_at_a_machine_that_moves() -> None:
    fine = [
        Frame(ADAS_SERVER, None, {ADAS, MOVING}),
        Frame(MOVING, None, {FREE}),
        Frame(MOVING, None, {BEAS_SERVER}),
        Frame(FREE, None),
    ]
    assert strangers_met(fine, MEANWHILE) == []
    wrong = [
        Frame(MOVING, None, {ADAS_SERVER, BEAS_SERVER}),
        Frame(ADAS_SERVER, 202, {BEAS_SERVER}),
        Frame(FREE, None, {ADAS}),
    ]
    assert strangers_met(wrong, MEANWHILE) == [str(frame) for frame in wrong]


def test_in_the_end_all_hear_their_own_and_nobody_else() -> None:
    fine = [
        Frame(ADAS_SERVER, None, {ADAS}),
        Frame(ADAS_SERVER, 202),
        Frame(MOVING, None, {BEAS_SERVER}),
        Frame(FREE, None),
    ]
    assert not_as_they_should(fine, AFTER) == []
    assert not_as_they_should([Frame(ADAS, None)], AFTER) == ["ipum1 rnic0 of ada was not heard by poplar1 rnic0"]
    (found,) = not_as_they_should([Frame(ADAS_SERVER, None, {ADAS, MOVING})], AFTER)
    assert found == "poplar1 rnic0 was heard by ipum1 rnic0, ipum2 rnic0 although it is ada's"
