# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write docs/proven.md: which rows of docs/real-systems.md the archives of real pods prove, or contradict."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._recording.facts import understood
from ansible_collections.ipu.pod.plugins.module_utils._recording.recording import text_of
from ansible_collections.ipu.pod.plugins.module_utils._vipu.probe import FLAG
from ansible_collections.ipu.pod.plugins.plugin_utils._anonymous.archive import REAL
from ansible_collections.ipu.pod.plugins.plugin_utils._tried.releases import number_of

ROOT = Path(__file__).resolve().parents[2]
ARCHIVES = ROOT / "tests" / "contract" / "real_pods"
# Beside an archive, what is expected to be understood of it.
FACTS = ".facts.json"
PAGE = ROOT / "docs" / "proven.md"
HEAD = """<!-- Made from tests/contract/real_pods by `make generate`. -->

# What real pods have proven

Rows of [real-systems.md](real-systems.md) that the answers of a real pod can prove, and the archives that do. An
archive is what [playbooks/first_contact.yml](first-contact.md) writes; one of the simulated pod proves nothing.

| Behaviour | Real pods |
| --- | --- |
"""


@dataclass(frozen=True)
class Device:
    """A device of an archive: its record, and what is understood of that."""

    record: Mapping[str, Any]
    parts: Mapping[str, Mapping[str, Any]]

    def part(self, name: str) -> Mapping[str, Any]:
        """One part, empty where it was not asked for or not understood."""
        part = self.parts.get(name, {})
        return {} if "message" in part else part

    def outputs(self, *words: str) -> Iterator[str]:
        """The output of each program that was called with these words in a row, and did not fail."""
        for entry in self.record["answers"]:
            asked = entry["asked"]
            runs = (asked[at : at + len(words)] for at in range(len(asked)))
            if entry.get("status") == 0 and list(words) in runs:
                yield text_of(entry["output"])


# Whether a device shows a behaviour, or something else; None where it tells nothing of it.
Verdict = bool | None
Check = Callable[[Device], Verdict]


def _admin_lists(device: Device) -> Verdict:
    if "vipu_lists" not in device.parts:
        return None
    asked = device.parts.get("controllers", {}).get("", {})
    return "agents" in asked and "clusters" in asked and "users" in asked


def _help_has_flags(device: Device) -> Verdict:
    helps = list(device.outputs("create", "partition", "--help"))
    return any("--size" in FLAG.findall(text) for text in helps) if helps else None


def _allocation_has(flag: str) -> Check:
    def check(device: Device) -> Verdict:
        helps = list(device.outputs("create", "allocation", "--help"))
        return any(flag in FLAG.findall(text) for text in helps) if helps else None

    return check


def _works_is_up(device: Device) -> Verdict:
    agents = device.part("controllers").get("", {}).get("agents", {})
    # Most of a pod's machines work.
    states = [agent["status"] for agent in agents.values()]
    return states.count("Up") > len(states) / 2 if states else None


def _status_beside(device: Device) -> Verdict:
    answers = list(device.outputs("--showjson", "get", "partition"))
    return all("status" in json.loads(answer) for answer in answers) if answers else None


def _pfc_on(device: Device) -> Verdict:
    release, text = device.part("release").get("eos", ""), device.part("running_config").get("text", "")
    if number_of(release) < (4, 15) or "priority-flow-control" not in text:
        return None
    return "priority-flow-control mode on" not in text


# The first cell of a row, and its check.
PROOFS: Mapping[str, Check] = {
    "JSON of `list agents`, `list clusters`, `list users`": _admin_lists,
    "`COMMAND --help` prints the command's flags": _help_has_flags,
    "`create allocation --cluster`": _allocation_has("--cluster"),
    "`create allocation --agents`": _allocation_has("--agents"),
    "`get partition --showjson` has the partition's status beside it": _status_beside,
    "The status of a V-IPU agent that works is `Up`; any other word but `unknown` is a finding": _works_is_up,
    "4.13 writes `priority-flow-control mode on`, today's releases `priority-flow-control on`": _pfc_on,
}


def archives(folder: Path = ARCHIVES) -> dict[str, dict[str, Any]]:
    """The archives by name."""
    paths = (path for path in sorted(folder.glob("*.json")) if not path.name.endswith(FACTS))
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}


def devices_of(archive: Mapping[str, Any]) -> list[Device]:
    """The devices of an archive."""
    return [Device(record, understood(record)) for record in archive["devices"].values()]


def verdict(check: Check, devices: Sequence[Device]) -> Verdict:
    """What a pod says: something else on one device outweighs the others."""
    found = {check(device) for device in devices}
    return False if False in found else True if True in found else None


def page(pods: Mapping[str, Mapping[str, Any]]) -> str:
    """The page as it should be."""
    real = {name: devices_of(archive) for name, archive in pods.items() if archive["source"] == REAL}
    rows = []
    for behaviour, check in PROOFS.items():
        verdicts = {name: verdict(check, devices) for name, devices in real.items()}
        words = {True: "proven by", False: "**contradicted** by"}
        told = [
            f"{words[value]} {', '.join(names)}"
            for value in words
            if (names := [name for name, each in verdicts.items() if each is value])
        ]
        rows.append(f"| {behaviour} | {'; '.join(told) or 'none yet'} |\n")
    return HEAD + "".join(rows)


def main() -> None:
    """Write it."""
    PAGE.write_text(page(archives()), encoding="utf-8")


if __name__ == "__main__":
    main()
