# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The GitLab example, as far as it does more than call the scripts."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import yaml

from tests.support.checkout import ROOT

GITLAB = dict.fromkeys(["CI_API_V4_URL", "CI_PROJECT_ID", "CI_MERGE_REQUEST_IID"], "x")
CURL = """#!/bin/sh
printf '%s\\n' "$@" > "$SEEN/arguments"
env > "$SEEN/environment"
for word; do case $word in @*) cat "${word#@}" > "$SEEN/header" ;; esac; done
"""


def test_the_token_of_the_comment_is_in_no_process_list(tmp_path: Path) -> None:
    example = yaml.safe_load((ROOT / "docs" / "pipelines" / "gitlab-ci.yml").read_text())
    (comment,) = [line for line in example["plan"]["script"] if "notes" in line]
    curl, header = tmp_path / "curl", tmp_path / "comment-header"
    curl.write_text(CURL)
    curl.chmod(0o755)
    header.write_text("PRIVATE-TOKEN: glpat-s3cret\n")
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "SEEN": str(tmp_path), "COMMENT_HEADER": str(header)}
    subprocess.run(["sh", "-euc", comment], env={**environment, **GITLAB}, check=True)
    assert (tmp_path / "header").read_text() == header.read_text()
    assert "s3cret" not in (tmp_path / "arguments").read_text() + (tmp_path / "environment").read_text()
