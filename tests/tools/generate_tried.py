# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write docs/tried.md, the releases of other systems that this collection was tried with."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.ipu.pod.plugins.plugin_utils._tried.releases import TRIED

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tried.md"
HEAD = """<!-- Made from plugins/plugin_utils/_tried/releases.py by `make generate`. -->

# What was tried

With these releases of other systems, this collection was tried, and how:

- **real**: on a real pod, whose answers are in [proven.md](proven.md)
- **tested**: with the system itself, on simulated machines
- **simulated**: with the [simulated pod](../simulator), which answers as that release is known to
- **documented**: by what its documentation or its source says; nothing ran

A run, a plan and `playbooks/preflight.yml` warn in one line of a release that is in no row, as far as the devices tell
it, and go on. What is refused does not begin.

| System | Releases | How | Evidence | Other releases |
| --- | --- | --- | --- | --- |
"""


def page() -> str:
    """The page as it should be."""
    return HEAD + "".join(
        f"| {row.system} | {row.first if row.first == row.last else f'{row.first} to {row.last}'} | {row.how} "
        f"| {row.evidence} | {row.outside} |\n"
        for row in TRIED
    )


def main() -> None:
    """Write it."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
