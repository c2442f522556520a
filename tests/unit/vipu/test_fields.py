# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of V-IPU's fields: what it says of options, documentation, comparison and references."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.ipu.pod.plugins.doc_fragments._vipu_entities import ModuleDocFragment
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import (
    AGENT,
    ALLOCATION,
    CLUSTER,
    KINDS,
    PARTITION,
    USER,
    plural,
)
from ansible_collections.ipu.pod.plugins.module_utils._vipu.fields import (
    COMPUTED,
    CREATION_ONLY,
    FIELDS,
    in_same_order,
    referred,
)
from ansible_collections.ipu.pod.plugins.module_utils._vipu.options import ENTITY_OPTIONS, options_of
from ansible_collections.ipu.pod.plugins.modules import vipu_state

ROLE = Path(__file__).resolve().parents[3] / "roles" / "vipu_controller" / "meta" / "argument_specs.yml"


def test_what_the_controller_decides_where_nothing_is_declared() -> None:
    assert COMPUTED == {
        AGENT: ("status", "version"),
        CLUSTER: ("topology", "looped"),
        ALLOCATION: ("agents",),
        USER: ("admin",),
        PARTITION: ("gcds", "replicas", "routing", "gw_routing", "sync_type", "status", "errors"),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_the_documentation_names_what_check_mode_leaves_out(kind: str) -> None:
    _all, left_out = yaml.safe_load(vipu_state.RETURN)["after"]["description"]
    assert [name for name in COMPUTED[kind] if f"C({name})" not in left_out] == []


def test_what_counts_at_creation_only() -> None:
    assert {kind: names for kind, names in CREATION_ONLY.items() if names} == {
        PARTITION: ("relocatable", "disable_auto_reset", "index")
    }


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_documented_has_a_flag_and_has_it_once(kind: str) -> None:
    for field in FIELDS[kind]:
        assert bool(field.doc) == bool(field.flag), field.name
    names = [field.name for field in FIELDS[kind]]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_needed_and_what_counts_once_is_documented(kind: str) -> None:
    documented = _documented(kind)
    assert documented.keys() == ENTITY_OPTIONS[kind]["options"].keys()
    ((_state, _present, needed),) = ENTITY_OPTIONS[kind]["required_if"]
    for name, option in documented.items():
        assert (f"Needed unless O({plural(kind)}[].state=absent)." in option["description"]) == (name in needed)
        assert ("At creation only" in option["description"]) == (name in CREATION_ONLY[kind])


def _documented(kind: str) -> dict[str, Any]:
    fragment = getattr(ModuleDocFragment, plural(kind).upper())
    suboptions: dict[str, Any] = yaml.safe_load(fragment)["options"][plural(kind)]["suboptions"]
    return suboptions


def test_references() -> None:
    assert list(referred(ALLOCATION, {"cluster": "c", "size": 8, "agents": ["a", "b"]})) == [
        ("cluster", CLUSTER, "c"),
        ("agents", AGENT, "a"),
        ("agents", AGENT, "b"),
    ]
    assert list(referred(PARTITION, {"allocation": "", "size": 4})) == []


@pytest.mark.parametrize(
    ("kind", "field", "same"), [(CLUSTER, "agents", False), (ALLOCATION, "agents", True), (USER, "allocations", True)]
)
def test_the_order_of_some_lists_says_nothing(kind: str, field: str, same: bool) -> None:
    there, wanted = {field: ["a", "b"]}, {field: ["b", "a"]}
    assert (in_same_order(kind, there, wanted) == there) == same


@pytest.mark.parametrize("entry_point", ["main", "tenants"])
def test_the_role_takes_entities_as_the_module_does(entry_point: str) -> None:
    documented = yaml.safe_load(ROLE.read_text(encoding="utf-8"))["argument_specs"][entry_point]["options"]
    spec = {name: option for kind in KINDS for name, option in options_of([kind]).items() if name not in options_of([])}
    taken = {name: documented[role] for name in spec if (role := f"vipu_controller_{name}") in documented}
    assert {plural(kind) for kind in (ALLOCATION, USER, PARTITION)} <= taken.keys()
    for name, option in taken.items():
        assert f"as the option C({name}) of M(ipu.pod.vipu_state)" in option["description"].replace("As", "as")
        for fact in ("type", "elements", "default"):
            assert option.get(fact) == spec[name].get(fact), (name, fact)
