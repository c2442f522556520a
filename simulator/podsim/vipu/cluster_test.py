# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`test cluster`: the checks that a controller runs over a cluster's machines and links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from podsim.vipu.entities import IPUS_PER_AGENT, Cluster


def run_cluster_test(
    cluster: Cluster, release: str, facts: Mapping[str, Mapping[str, Any] | None]
) -> list[dict[str, Any]]:
    """One row per test; `facts` are those of the agents that are up. The real table's layout is not published."""
    down = [agent_id for agent_id in cluster.agent_ids if agent_id not in facts]
    other = [agent_id for agent_id, about in facts.items() if about and about["virm_version"] != release]
    links = {
        "Cabling": "All cables connected as expected",
        "Sync-Link": "Sync Link test passed",
        "IPU-Link": f"Topology: {cluster.topology}, {cluster.num_ipulink_domains} IPU-Link domains",
    }
    if cluster.num_ipulink_domains > 1:
        links["GW-Link"] = f"Topology: {cluster.cluster_topology or 'line'}"
    links["Traffic"] = "Traffic test passed"
    up = len(cluster.agent_ids) - len(down)
    machines = f"{up}/{len(cluster.agent_ids)}"
    version = (
        f"agents with another version than {release}: {', '.join(other)}"
        if other
        else "All component versions are consistent"
    )
    rows = [_row("Version", not other and not down, machines, _missing(down) or version)]
    ipus = f"{up * IPUS_PER_AGENT}/{cluster.size}"
    return rows + [_row(test, not down, ipus, _missing(down) or summary) for test, summary in links.items()]


def _row(test: str, good: bool, passed: str, summary: str) -> dict[str, Any]:
    return {"test_type": test, "duration": "0.00s", "good": good, "passed": passed, "summary": summary}


def _missing(down: list[str]) -> str:
    return f"not reachable: {', '.join(down)}" if down else ""
