# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts that runs gather of a host: no more than they need, and nothing that its firmware says (DMI)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.checkout import ROOT

SETUP = ("ansible.builtin.setup", "setup", "ansible.builtin.gather_facts")
NEEDED = ["!all", "!min", "distribution", "pkg_mgr"]
FILES = [*(ROOT / "playbooks").rglob("*.yml"), *(ROOT / "roles").glob("*/tasks/*.yml")]


def mappings(data: Any) -> Iterator[dict[str, Any]]:
    """All mappings in a file, however deep."""
    if isinstance(data, dict):
        yield data
    for each in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from mappings(each)


def found_in(path: Path) -> list[dict[str, Any]]:
    return list(mappings(yaml.safe_load(path.read_text())))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_run_reads_what_firmware_calls_a_host(path: Path) -> None:
    found = found_in(path)
    assert [
        each for each in found if "hosts" in each and "name" in each and each.get("gather_facts") is not False
    ] == []
    subsets = [(each[name] or {}).get("gather_subset") for each in found for name in SETUP if name in each]
    assert [subset for subset in subsets if subset != NEEDED] == []


def test_no_module_reads_what_firmware_calls_a_host() -> None:
    texts = {path: path.read_text() for path in (ROOT / "plugins").rglob("*.py")}
    assert [path for path, text in texts.items() if "/dmi" in text or "dmidecode" in text] == []
