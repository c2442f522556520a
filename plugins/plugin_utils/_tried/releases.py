# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The releases that this collection was tried with, each with its evidence. `make generate` writes docs/tried.md."""

from __future__ import annotations

import re
from dataclasses import dataclass

# How something is known to work, from the best evidence to the weakest.
REAL, TESTED, SIMULATED, DOCUMENTED = "real", "tested", "simulated", "documented"

EOS, VIPU, SLURM, OFED = "EOS", "V-IPU", "Slurm", "MLNX_OFED"
ANSIBLE_CORE, CONTROL_PYTHON, HOST_PYTHON = "ansible-core", "Python of the control node", "Python of a server"
DEBIAN, UBUNTU, REDHAT = "Debian", "Ubuntu", "RedHat"

Number = tuple[int, ...]


@dataclass(frozen=True)
class Tried:
    """Releases of one system.

    Attributes:
        system: its name.
        first: the oldest of these releases, as far as it counts: 4.28 is each 4.28.x.
        last: the newest.
        how: one of the words above.
        evidence: where that is seen.
        outside: what happens with other releases.
    """

    system: str
    first: str
    last: str
    how: str
    evidence: str
    outside: str = "a warning"


TRIED = (
    Tried(EOS, "4.28", "4.28", SIMULATED, "tests/integration, tests/contract/test_tor_switch.py"),
    Tried(EOS, "4.13", "4.33", DOCUMENTED, "tests/contract/eos_simulator: what is read and shown in another form"),
    Tried(VIPU, "1.17", "1.18", SIMULATED, "tests/integration, tests/contract/test_vipu_client.py"),
    Tried(VIPU, "1.12", "1.16", DOCUMENTED, "tests/unit/vipu: which release is known to have what"),
    Tried(SLURM, "22.05", "22.05", TESTED, "tests/integration/slurm: Debian's packages", "23.02 and later are refused"),
    Tried(DEBIAN, "12", "13", TESTED, "tests/integration, tests/acceptance"),
    Tried(UBUNTU, "20.04", "22.04", DOCUMENTED, "what Graphcore's servers run; no image was tried"),
    Tried(REDHAT, "8", "9", DOCUMENTED, "tests with such a server in memory; no image was tried"),
    Tried(CONTROL_PYTHON, "3.11", "3.13", TESTED, "all tests, tests/integration with the newest", "older are refused"),
    Tried(HOST_PYTHON, "3.11", "3.13", TESTED, "tests/integration"),
    Tried(HOST_PYTHON, "3.8", "3.10", DOCUMENTED, "tests/unit/test_target_python.py: the syntax alone"),
    Tried(ANSIBLE_CORE, "2.19", "2.21", TESTED, "all tests, tests/integration with the newest", "older are refused"),
    Tried(OFED, "5", "5", DOCUMENTED, "its programs' source; stand-ins in tests/integration", "no warning"),
)


def number_of(release: str) -> Number:
    """The numbers that a release begins with: 4.28.3M is (4, 28, 3); none of what is no release."""
    found = re.match(r"\d+(?:\.\d+)*", release)
    return tuple(map(int, found[0].split("."))) if found else ()


def is_tried(system: str, release: str) -> bool:
    """Whether a release is among those of the table; one that tells nothing is not."""
    number = number_of(release)
    return bool(number) and any(
        number_of(each.first) <= number and number[: len(number_of(each.last))] <= number_of(each.last)
        for each in TRIED
        if each.system == system
    )


def tried_of(system: str) -> str:
    """The releases of a system in the table, in words."""
    spans = [(each.first, each.last) for each in TRIED if each.system == system]
    return ", ".join(dict.fromkeys(first if first == last else f"{first} to {last}" for first, last in spans))
