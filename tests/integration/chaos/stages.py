# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stages of a run, as the names of its plays tell them."""

from __future__ import annotations

import re

LOOK, LOCK, VERIFY, UNLOCK = "look", "lock", "verify", "unlock"
# The first and the last are of clouds, of which this pod has none.
NUMBERED = tuple(str(number) for number in range(2, 14))
STAGES = (LOOK, LOCK, *NUMBERED, UNLOCK, VERIFY)
OF_PLAYS = {
    "Look at every device": LOOK,
    "Take the pods' locks": LOCK,
    "Look again under the locks": LOCK,
    "Decide again under the locks": LOCK,
    "Release the locks": UNLOCK,
    "Verify the pods in which something has changed": VERIFY,
}


def stage_of(play: str) -> str:
    """The stage that a play belongs to; empty where it is none of these."""
    number = re.match(r"(\d+)/14 ", play)
    return number.group(1) if number else OF_PLAYS.get(play, "")
