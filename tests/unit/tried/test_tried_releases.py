# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A release outside of the table is warned of in one sentence; what is not known is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import generate_tried
import pytest
import yaml

from ansible_collections.ipu.pod.plugins.plugin_utils._tried.releases import (
    ANSIBLE_CORE,
    EOS,
    HOST_PYTHON,
    TRIED,
    VIPU,
    is_tried,
    number_of,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._tried.warnings import untried
from tests.support.checkout import ROOT


@pytest.mark.parametrize(
    ("system", "release", "tried"),
    [
        (EOS, "4.28.3M", True),
        (EOS, "4.33.9F-12345", True),
        (EOS, "4.34.0F", False),
        (EOS, "4.12.11M", False),
        (VIPU, "1.18.0", True),
        (VIPU, "1.2.0", False),
        (HOST_PYTHON, "3.8.10", True),
        (HOST_PYTHON, "3.14.0", False),
        ("Debian", "12", True),
        ("Debian", "trixie/sid", False),
        ("Slackware", "15", False),
    ],
)
def test_a_release_is_tried_or_it_is_not(system: str, release: str, tried: bool) -> None:
    assert is_tried(system, release) is tried


def look(distribution: str, family: str, version: str, **parts: Any) -> dict[str, Any]:
    packages = {"distribution": distribution, "os_family": family, "distribution_version": version}
    return {"parts": {"things": {"packages": packages, "python": "3.11.2"}, **parts}}


def test_what_is_untried_is_told_once_with_all_that_have_it() -> None:
    looks = {
        "tor2": {"parts": {"release": {"eos": "4.40.1F"}}},
        "tor1": {"parts": {"release": {"eos": "4.40.1F"}}},
        "server": look("Ubuntu", "Debian", "26.04", controllers={"": {"release": "2.0.0"}, "alice": {"message": "no"}}),
    }
    assert untried(looks) == [
        "Ubuntu 26.04 of server is untried; tried are 20.04 to 22.04, see docs/tried.md",
        "V-IPU 2.0.0 of server is untried; tried are 1.17 to 1.18, 1.12 to 1.16, see docs/tried.md",
        "EOS 4.40.1F of tor1, tor2 is untried; tried are 4.28, 4.13 to 4.33, see docs/tried.md",
    ]


def test_a_system_that_is_in_no_row_is_told_too() -> None:
    assert untried({"server": look("Suse", "Suse", "15")}) == [
        "Suse 15 of server is untried; see docs/tried.md for those that were tried"
    ]


def test_what_is_tried_or_was_not_read_is_not_told() -> None:
    looks = {
        "rocky": look("Rocky", "RedHat", "9.4"),
        "debian": look("Debian", "Debian", "13"),
        "lost": {"parts": {}},
        "failed": {
            "parts": {"release": {"message": "no"}, "things": {"message": "no"}, "controllers": {"message": "no"}}
        },
    }
    assert untried(looks) == []


def test_each_row_names_evidence_that_is_there() -> None:
    named = [word.strip(",:;") for row in TRIED for word in row.evidence.split() if word.startswith("tests/")]
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_each_span_begins_at_its_beginning() -> None:
    assert [row.system for row in TRIED if number_of(row.first) > number_of(row.last)] == []


def test_what_is_refused_is_refused_by_the_collection_itself() -> None:
    runtime = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text())
    oldest = min((row.first for row in TRIED if row.system == ANSIBLE_CORE), key=number_of)
    assert runtime["requires_ansible"] == f">={oldest}.0"


def test_the_page_is_written_from_the_table() -> None:
    assert Path(generate_tried.PAGE).read_text() == generate_tried.page(), "write it again with `make generate`"
