# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the command-line tools print: tables, blocks and JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

Row = Sequence[str]


def as_json(value: Any) -> str:
    """As the real tools print it: two spaces to indent, two after each colon."""
    return json.dumps(value, indent=2, separators=(",", ":  "))


def table(header: Row, rows: Sequence[Row], rule_first: bool = True, least_widths: Sequence[int] = ()) -> str:
    """A table; with `rule_first` false the header is the first line, as in `list partitions`."""
    lines, rule = _columns([header, *rows], least_widths)
    return "\n".join([*([rule] if rule_first else []), lines[0], rule, *lines[1:], rule])


def block(rows: Mapping[str, str]) -> str:
    """Keys and values between two rules."""
    lines, rule = _columns(list(rows.items()), ())
    return "\n".join([rule, *lines, rule])


def agent_text(rows: Mapping[str, str], ipus: Sequence[Row]) -> str:
    """`get agent`: a block whose last rule is the first of the table of IPUs."""
    header = ("IPU", "PCI", "Device", "Firmware", "Architecture", "Num Tiles")
    return "\n".join([*block(rows).splitlines()[:-1], table(header, ipus)])


def allocations_text(allocations: Sequence[Mapping[str, Any]]) -> str:
    """`list allocations`."""
    rows = [(a["id"], " ".join(a["spec"]["agent_ids"])) for a in allocations]
    return table(("Allocation ID", "Agents"), rows)


def options_text(options: Sequence[Mapping[str, Any]]) -> str:
    """`create allocation --options`."""
    return table(("Cluster", "Agents"), [(o["cluster_id"], " ".join(o["agent_ids"])) for o in options])


def agents_text(agents: Sequence[Mapping[str, Any]]) -> str:
    """`list agents`."""
    rows = [
        (a["id"], a["spec"]["host"], str(a["spec"]["port"]), a["status"]["state"], a["status"]["virm_version"])
        for a in agents
    ]
    return table(("Agent ID", "Host", "Port", "Status", "Virm version"), rows)


def clusters_text(clusters: Sequence[Mapping[str, Any]]) -> str:
    """`list clusters`."""
    rows = [
        (
            c["id"],
            str(c["spec"]["num_ipulink_domains"]),
            c["spec"]["topology"],
            c["spec"]["cluster_topology"] or "-",
            " ".join(c["spec"]["agent_ids"]),
        )
        for c in clusters
    ]
    return table(("Cluster ID", "ILDs", "Topology", "Cluster topology", "Agents"), rows)


def users_text(users: Sequence[Mapping[str, Any]]) -> str:
    """`list users`."""
    rows = [(u["id"], "admin" if u["spec"]["admin"] else "user", " ".join(u["spec"]["allocation_ids"])) for u in users]
    return table(("User ID", "Role", "Allocations"), rows)


def partitions_text(partitions: Sequence[Mapping[str, Any]], admin: bool) -> str:
    """`list partitions`; `vipu-admin` has two columns before the partition's, `vipu` has its cluster behind it."""
    shape = ("ILDs", "GW Routing", "ILD Routing", "Size", "GCDs", "State")
    rows: list[Row]
    # The published table has two more spaces behind a partition's id than its header needs.
    if admin:
        rows = [(p["spec"]["cluster_id"], p["spec"]["allocation_id"] or "-", p["id"], *_shape(p)) for p in partitions]
        return table(("Cluster", "Allocation", "Partition", *shape), rows, False, (0, 0, 11))
    rows = [(p["id"], p["spec"]["cluster_id"], *_shape(p)) for p in partitions]
    return table(("Partition", "Cluster", *shape), rows, False, (11,))


def attributes_text(entries: Sequence[Mapping[str, Any]]) -> str:
    """`list ipu-attrs`: an agent and an IPU are named in their first row only."""
    rows: list[Row] = []
    for entry in entries:
        for ipu, attributes in sorted(entry["ipu_attributes"].items(), key=lambda item: int(item[0])):
            for name, value in sorted(attributes["attributes"].items()):
                rows.append((entry["agent"], ipu, name, value))
    for row, before in reversed(list(enumerate(rows[:-1], 1))):
        if rows[row][0] == before[0]:
            same_ipu = rows[row][1] == before[1]
            rows[row] = ("", "" if same_ipu else rows[row][1], *rows[row][2:])
    return table(("Agent", "IPU", "Attribute", "Value"), rows, rule_first=False)


def discovered_text(agents: Sequence[Mapping[str, Any]]) -> str:
    """`discover agent`."""
    rows = [
        (a["host"], str(a["port"]), a["network_interface"], f"{a['seconds_since_last_seen']}s", a["auto_add_id"])
        for a in agents
    ]
    header = ("Host", "Port", "Network Interface", "Time Since Last Seen", "Agent Auto-Add ID")
    return table(header, rows, rule_first=False)


def cluster_test_text(tests: Sequence[Mapping[str, Any]]) -> str:
    """`test cluster`."""
    rows = [(t["test_type"], t["duration"], t["passed"], t["summary"]) for t in tests]
    return table(("Test Type", "Duration", "Passed", "Summary"), rows)


def cluster_text(cluster: Mapping[str, Any]) -> str:
    """`get cluster`."""
    spec = cluster["spec"]
    return block(
        {
            "Cluster ID": cluster["id"],
            "ILDs": str(spec["num_ipulink_domains"]),
            "Topology": spec["topology"],
            "Cluster topology": spec["cluster_topology"] or "-",
            "Agents": " ".join(spec["agent_ids"]),
        }
    )


def allocation_text(allocation: Mapping[str, Any]) -> str:
    """`get allocation`."""
    spec = allocation["spec"]
    agents = " ".join(spec["agent_ids"])
    return block({"Allocation ID": allocation["id"], "Cluster": spec["cluster_id"], "Agents": agents})


def user_text(user: Mapping[str, Any]) -> str:
    """`get user`."""
    spec = user["spec"]
    role, allocations = "admin" if spec["admin"] else "user", " ".join(spec["allocation_ids"])
    return block({"User ID": user["id"], "Role": role, "Allocations": allocations})


def partition_text(partition: Mapping[str, Any], errors: Sequence[str]) -> str:
    """`get partition`; with a row of errors when there are any."""
    spec = partition["spec"]
    ilds, gateway, link, size, gcds, state = _shape(partition)
    return block(
        {
            "Partition": partition["id"],
            "Cluster": spec["cluster_id"],
            "Allocation": spec["allocation_id"] or "-",
            "State": state,
            "Size": size,
            "ILDs": ilds,
            "GCDs": gcds,
            "Replicas": str(spec["num_replicas"]),
            "Reconfigurable": "yes" if spec["reconfigurable"] else "no",
            "GW Routing": gateway,
            "ILD Routing": link,
            "Sync Type": spec["sync_type"],
            **({"Errors": "; ".join(errors)} if errors else {}),
        }
    )


def _shape(partition: Mapping[str, Any]) -> tuple[str, str, str, str, str, str]:
    spec = partition["spec"]
    gateway = spec["gw_routing_type"].removeprefix("GRT_")
    return (
        str(spec["num_ipulink_segments"]),
        "DEFAULT" if gateway == "UNDEFINED" else gateway,
        spec["ipulink_routing_type"].removeprefix("IRT_"),
        str(len(spec["ipus"])),
        str(spec["num_gcds"]),
        partition["ready_state"].removeprefix("PS_"),
    )


def _columns(rows: Sequence[Row], least_widths: Sequence[int]) -> tuple[list[str], str]:
    """The rows as lines, and the rule that goes with them."""
    least = [*least_widths, *[0] * len(rows[0])]
    widths = [max(least[column], *(len(row[column]) for row in rows)) for column in range(len(rows[0]))]
    lines = [
        (" " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))).rstrip() for row in rows
    ]
    return lines, "-" * (sum(widths) + 3 * len(widths) - 1)
