# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write into docs/architecture.md which room of plugins/ imports which, as `make generate` does.

A room is a package of plugin_utils or module_utils. All plugins together, which Ansible loads, are one room more.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ROOT / "plugins"
DOCUMENT = ROOT / "docs" / "architecture.md"
NAMESPACE = "ansible_collections.ipu.pod.plugins."
BEGIN, END = "<!-- dependency picture: begin -->", "<!-- dependency picture: end -->"

SHELL = "plugins"
# From the top to the bottom: a room imports only rooms below its own line.
CONTROL_NODE = (
    ("_decision",),
    ("_adoption", "_ansible", "_backend_ai_files", "_drift", "_plan_page", "_slurm_files", "_anonymous", "_tried"),
    ("_declaration", "_reports", "_vpods"),
    ("_desired", "_inventory", "_link_checks", "_placement"),
    ("_pod", "_host_resources", "_pod_services"),
    ("_programs", "_templates"),
)
DEVICES = (
    ("_recording",),
    ("_look",),
    ("_cloud_partitions", "_ipu_run", "_roce", "_slurm_program"),
    ("_containers",),
    ("_rnic", "_vipu"),
    ("_backend_ai_host", "_cloud", "_dhcp", "_domain", "_runs", "_slurm_host", "_tor"),
    ("_host",),
    ("_plan",),
    ("_text",),
)
LEVELS = ((SHELL,), *CONTROL_NODE, *DEVICES)

Imports = Mapping[str, set[str]]


def imports() -> dict[str, set[str]]:
    """Return each room with the other rooms that it imports."""
    found: dict[str, set[str]] = {}
    for path in sorted(PLUGINS.rglob("*.py")):
        place = path.relative_to(PLUGINS).with_suffix("").parts
        if room := room_of(place):
            rooms = {room_of(module) for module in imported(path, place)}
            found.setdefault(room, set()).update(rooms - {room, ""})
    return found


def room_of(place: tuple[str, ...]) -> str:
    """Return the room of a module below plugins/; nothing for the file that marks plugin_utils as a package."""
    if place[0] in ("plugin_utils", "module_utils"):
        return place[1] if place[1:] != ("__init__",) else ""
    return SHELL


def imported(path: Path, place: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the modules below plugins/ that a file imports; a name of a package counts as one of its modules."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom):
            continue
        words = tuple((node.module or node.names[0].name).split("."))
        if node.level:
            yield (*place[: -node.level], *words)
        elif (node.module or "").startswith(NAMESPACE):
            yield words[NAMESPACE.count(".") :]


def upward(found: Imports) -> list[str]:
    """Return the imports that do not point down, and the rooms that stand in no line, one sentence each."""
    level = {room: number for number, rooms in enumerate(LEVELS) for room in rooms}
    strangers = sorted(found.keys() ^ level.keys())
    return [
        *(f"{room} is a room, or stands in LEVELS, but not both" for room in strangers),
        *(
            f"{room} imports {other}, which is not below it"
            for room, others in found.items()
            for other in sorted(others)
            if room in level and other in level and level[other] <= level[room]
        ),
    ]


def arrows(found: Imports) -> list[tuple[str, str]]:
    """Return the imports without those that follow from others, from the top to the bottom."""
    below: dict[str, set[str]] = {}
    for room in (room for rooms in reversed(LEVELS) for room in rooms):
        below[room] = found[room].union(*(below[other] for other in found[room]))
    order = [room for rooms in LEVELS for room in rooms]
    return [
        (room, other)
        for room in order
        for other in sorted(found[room], key=order.index)
        if not any(other in below[between] for between in found[room])
    ]


def picture(found: Imports) -> str:
    """Return the imports as a table, from the top to the bottom."""
    places = {SHELL: "modules, action, inventory, filter, callback"}
    places |= {room: "`plugin_utils`: on the control node" for rooms in CONTROL_NODE for room in rooms}
    places |= {room: "`module_utils`: on devices, too" for rooms in DEVICES for room in rooms}
    below: dict[str, list[str]] = {room: [] for room in places}
    for room, other in arrows(found):
        below[room].append(f"`{other}`")
    lines = ["| Room | Where | Imports |", "| --- | --- | --- |"]
    return "\n".join(
        [*lines, *(f"| `{room}` | {where} | {', '.join(below[room])} |" for room, where in places.items())]
    )


def drawn(document: str, found: Imports) -> str:
    """Return the document with the table between its markers."""
    before, _, rest = document.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{picture(found)}\n\n{END}{rest.partition(END)[2]}"


def main() -> int:
    """Write it; the exit status is 1 if an import would point up."""
    found = imports()
    if wrong := upward(found):
        print("\n".join(wrong))
        return 1
    DOCUMENT.write_text(drawn(DOCUMENT.read_text(encoding="utf-8"), found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
