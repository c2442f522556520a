# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The README of each role says what its argument_specs.yml says today."""

from __future__ import annotations

from pathlib import Path

import generate_role_readmes
import pytest

from tests.support.checkout import ROOT


@pytest.mark.parametrize("role", sorted(path for path in (ROOT / "roles").iterdir()), ids=lambda role: role.name)
def test_a_readme_is_that_of_the_options(role: Path) -> None:
    written = (role / "README.md").read_text(encoding="utf-8")
    assert written == generate_role_readmes.readme(role), "it is stale; run: make generate"
