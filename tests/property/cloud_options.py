# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random options of ``ipu.pod.cloud_state``: vPODs that are there, absent, or not mentioned."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._cloud.entities import DECLARED, plural, trait_name

Options = dict[str, Any]
VPODS = ("alice", "bob", "alice:controller")
HYPERVISORS = ("pod001-poplar3", "pod001-poplar4")


@st.composite
def vpods(draw: st.DrawFn, vpod: str, number: int) -> Options:
    """What one vPOD has; its VLAN and its addresses are its own."""
    project = draw(st.sampled_from([vpod, f"{vpod}-too"]))
    mine = {"vpod": vpod, "project": project}
    rnic, group, flavor = f"vpod-{vpod}-rnic", f"vpod-{vpod}", f"vpod-{vpod}-{draw(st.sampled_from([4, 16]))}"
    remote, pool = draw(st.sampled_from(["0.0.0.0/0", "10.6.0.0/16"])), draw(st.sampled_from(["192", "200"]))
    names = [f"{vpod}-{index + 1}" for index in range(draw(st.integers(0, 2)))]
    key = draw(st.sampled_from([None, "ssh-ed25519 AAAA one", "ssh-ed25519 BBBB two"]))
    with_data = draw(st.booleans())
    quota = {"instances": draw(st.integers(2, 4)), "cores": None}
    return {
        "projects": [{"name": project, "domain": None, "description": f"vPOD {vpod}", "vpod": vpod}],
        "members": [
            {**mine, "user": user, "role": "member"} for user in draw(st.sets(st.sampled_from(["ann", "ben"])))
        ],
        "quotas": [{**mine, **quota}] if draw(st.booleans()) else [],
        "networks": [
            {
                **mine,
                "name": rnic,
                "physical_network": "rnic",
                "vlan": 200 + 10 * number + draw(st.integers(0, 1)),
                "mtu": draw(st.sampled_from([1500, 9000])),
            }
        ],
        "subnets": [
            {"name": rnic, "vpod": vpod, "network": rnic, "cidr": "10.5.0.0/16", "pools": [f"10.5.1.{pool}-10.5.1.223"]}
        ],
        "security_groups": [{**mine, "name": group, "rules": [{"protocol": "tcp", "port": 22, "remote": remote}]}],
        "flavors": [
            {
                **mine,
                "name": flavor,
                "vcpus": draw(st.sampled_from([4, 8])),
                "ram": 8192,
                "disk": 20,
                "extra_specs": {f"trait:{trait_name(vpod)}": "required"},
            }
        ],
        "traits": [{"name": trait_name(vpod), "vpod": vpod, "hypervisors": draw(hypervisors())}],
        "volumes": [{**mine, "name": f"{name}-data", "size": 10} for name in names],
        "servers": [
            {
                **mine,
                "name": name,
                "flavor": flavor,
                "image": "poplar",
                "key": key,
                "volumes": [f"{name}-data"] if with_data else [],
                "ports": [
                    {"network": "control", "address": None, "security_groups": [group]},
                    {"network": rnic, "address": f"10.5.1.{number}{index}", "security_groups": []},
                ],
            }
            for index, name in enumerate(names)
        ],
    }


def hypervisors() -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(HYPERVISORS), min_size=1, unique=True)


@st.composite
def options(draw: st.DrawFn) -> Options:
    """What some vPODs have, and that others are absent."""
    found: Options = {plural(kind): [] for kind in DECLARED}
    found["images"] = [{"name": "poplar", "disk_format": "qcow2", "sha512": draw(st.sampled_from(["aa", "bb"]))}]
    found["absent_vpods"] = []
    for number, vpod in enumerate(VPODS):
        fate = draw(st.sampled_from(["there", "there", "absent", "not mentioned"]))
        if fate == "there":
            for list_name, things in draw(vpods(vpod, number)).items():
                found[list_name] += things
        elif fate == "absent":
            found["absent_vpods"].append(vpod)
    return found
