# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The site's own tasks before and after the changes of a run and each of its stages."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.roles_and_playbooks.two_switches import Site, two_switches

# Says in a file who has come by, and where.
SAYS = """\
- name: Say who has come by
  ansible.builtin.shell: echo {moment} {{{{ inventory_hostname }}}} >> {diary}
  delegate_to: localhost
  become: false
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with two_switches(tmp_path) as found:
        (tmp_path / "hooks").mkdir()
        yield found


def hook(site: Site, moment: str, tasks: str = SAYS) -> None:
    """Have a site's own tasks."""
    path = site.directory / "hooks" / f"{moment}.yml"
    path.write_text(tasks.format(moment=moment, diary=site.directory / "diary"))


def run(site: Site, *options: str) -> subprocess.CompletedProcess[str]:
    return site.run("-e", f"site_hooks={site.directory / 'hooks'}", *options)


def diary(site: Site) -> list[str]:
    path = site.directory / "diary"
    return path.read_text().splitlines() if path.exists() else []


def test_each_runs_at_its_moment_and_where_nothing_changes_none_does(site: Site) -> None:
    for moment in ("before_changes", "before_switches", "after_switches", "after_changes", "before_servers"):
        hook(site, moment)
    # What is no task file is nobody's business.
    (site.directory / "hooks" / "README.md").touch()
    checked = run(site, "--check")
    assert (checked.returncode, diary(site)) == (0, [])
    done = run(site)
    assert done.returncode == 0, done.stdout + done.stderr
    assert diary(site) == [
        "before_changes localhost",
        "before_switches blue-tor",
        "after_switches blue-tor",
        "before_switches green-tor",
        "after_switches green-tor",
        "after_changes localhost",
    ]
    assert run(site).returncode == 0
    assert len(diary(site)) == 6


def test_one_that_fails_before_the_changes_stops_the_run_before_anything_is_touched(site: Site) -> None:
    hook(
        site,
        "before_changes",
        "- name: Keep to the maintenance window\n"
        "  ansible.builtin.assert: {{that: false, quiet: true, fail_msg: 'changes are made from 22 to 6 h'}}\n",
    )
    done = run(site)
    assert done.returncode == 2
    assert "changes are made from 22 to 6 h" in done.stdout
    assert not site.configured("blue")
    assert not site.configured("green")


def test_one_that_would_never_run_is_refused_before_anything_is_touched(site: Site) -> None:
    hook(site, "before_switch")
    done = run(site)
    assert done.returncode == 2
    assert f"site_hooks: {site.directory}/hooks/before_switch.yml would never run (did you mean before_switches?)" in (
        done.stdout
    )
    assert "Nothing has been touched." in done.stdout
    missing = site.run("-e", "site_hooks=nowhere")
    assert "/nowhere; name a folder with task files, or leave site_hooks out" in missing.stdout
    assert not site.configured("blue")
