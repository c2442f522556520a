# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write into docs/demo.md what a terminal shows of the demo, on the simulated pod that `make recording` has started."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "demo.md"
BEGIN, END = "<!-- recording: written by make recording -->\n", "<!-- end of recording -->\n"
POD = "inventories/sim_pod64"
COMMANDS = (
    f".venv/bin/ansible-playbook -i {POD} playbooks/site.yml",
    f".venv/bin/ansible-playbook -i {POD} playbooks/site.yml",
    f".venv/bin/ansible-playbook -i {POD} playbooks/verify.yml",
    f".venv/bin/ansible-playbook -i {POD} playbooks/capacity.yml",
    "ssh -F build/podsim/ssh_config pod001-poplar1 vipu list partitions",
)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def recorded(command: str) -> str:
    """A command and its output, as a terminal shows them; the error is raised if it fails."""
    shown = subprocess.run(command, shell=True, check=True, capture_output=True, text=True, cwd=ROOT)
    return f"$ {command}\n{COLOUR.sub('', shown.stdout)}"


def with_recording(page: str, text: str) -> str:
    """The page with a recording between its markers."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n```console\n{text}```\n\n{END}{rest.partition(END)[2]}"


def main() -> int:
    """Run the commands and write what they show."""
    text = "\n".join(map(recorded, COMMANDS))
    PAGE.write_text(with_recording(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
