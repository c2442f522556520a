# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of pods.yml stand in one place: what is written from there is up to date, and says what the parser does."""

from __future__ import annotations

import copy
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml
from generate_pods_yml import between_markers, generated
from jsonschema import Draft202012Validator

from ansible_collections.ipu.pod.plugins.doc_fragments._pods import ModuleDocFragment
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.documentation import json_schema, rows
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.keys import CLUSTER, CONTROLLER, DOCUMENT, PARTITION
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import (
    DeclarationError,
    Key,
    MapOf,
    Problems,
    Record,
    integer,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.model import Cluster, Controller, Partition

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = sorted((ROOT / "inventories").glob("*/pods.yml"))
KEYS = dict(rows(DOCUMENT))
SCHEMA = Draft202012Validator(json_schema())

POD: dict[str, Any] = {"model": "bow-pod64", "poplar_servers": 1}
GOOD: dict[str, Any] = {
    "schema": 1,
    "pods": {"p": POD},
    "controllers": {"v": {"host": "p-poplar1"}},
    "clusters": {"c": {"controller": "v", "pods": ["p"]}},
    "vpods": {"alice": {"cluster": "c", "ipus": 16, "vlan": 101, "partitions": {"train": {"ipus": 16}}}},
}


@pytest.mark.parametrize("path", generated(), ids=lambda path: path.name)
def test_what_is_written_from_the_keys_is_up_to_date(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == generated()[path], "run `make generate`"


def test_a_page_without_its_comments_is_named() -> None:
    with pytest.raises(ValueError, match="lacks the comments of keys"):
        between_markers("# A page", "keys", "")


def test_the_plugin_documents_every_key() -> None:
    options = yaml.safe_load(ModuleDocFragment.DOCUMENTATION)["options"]
    documented = {name: [line.split(" ")[0] for line in option["description"][1:]] for name, option in options.items()}
    for name, lines in documented.items():
        assert lines == [
            f"C({path.removeprefix(f'{name}.NAME.')})" for path in KEYS if path.startswith(f"{name}.NAME.")
        ]
    assert documented.keys() == {"pods", "controllers", "clusters", "vpods", "clouds", "machines"}
    assert options["clusters"]["description"][1] == "C(controller) (a name; required) - its controller."


@pytest.mark.parametrize(("path", "key"), KEYS.items(), ids=KEYS)
def test_a_default_is_a_value_that_may_be_declared(path: str, key: Key) -> None:
    problems = Problems()
    if key.default is not None and not key.derived:
        key.kind.check(list(key.default) if isinstance(key.default, tuple) else key.default, path, problems)
    assert problems.found == []


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_a_meaning_is_one_line_that_goes_into_a_table(key: Key) -> None:
    assert key.meaning
    assert not set("|\n") & set(key.meaning + key.default_words + key.kind.words)
    assert key.meaning.count("`") % 2 == 0
    assert not key.meaning.endswith(".")


def test_a_later_key_says_since_when() -> None:
    assert Key("colour", integer(1, 2), since="3.0.0").means("what it is").more == " Since 3.0.0."


@pytest.mark.parametrize(("model", "record"), [(Controller, CONTROLLER), (Cluster, CLUSTER), (Partition, PARTITION)])
def test_the_model_has_the_keys_as_fields(model: Any, record: Record) -> None:
    assert {field.name for field in fields(model)} == {"name", *(key.name for key in record.keys)}


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_the_examples_are_as_the_schema_says(path: Path) -> None:
    assert list(SCHEMA.iter_errors(yaml.safe_load(path.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("schema", 2),
        ("schema", ...),
        ("colour", "red"),
        ("pods.p.model", "bow-pod65"),
        ("pods.p.model", ...),
        ("pods.p.model", None),
        ("pods.p.colour", "red"),
        ("pods.p.lrack", 0),
        ("pods.p.lrack", True),
        ("pods.p.vlans", {"storage": 1}),
        ("pods.p.vlans", {"storage": {"vni": 7}}),
        ("pods.p.vlans", {"300": 300}),
        ("pods.p.overrides", {"p-ipum1": {"rnic_mac": "0c:42:a1"}}),
        ("pods.p.overrides", {"p-ipum1": {"switch_port": "9/1"}}),
        ("pods.p.tor", {"roce": "best"}),
        ("pods.p.tor", {"roce": {"colour": 3}}),
        ("pods.p.tor", {"ports": {"9/1": {}}}),
        ("pods.p.tor", {"ports": {"Et9": {"vlans": [True]}}}),
        ("pods.p.managed", ["switch", "switch"]),
        ("pods.p.names", {"tor_switch": "{rack}-tor"}),
        ("clusters.c.looped", "yes"),
        ("clusters.c.pods", "p"),
        ("vpods.alice.users", ["a b"]),
        ("vpods.alice.vlan", 4095),
        ("vpods.alice.partitions.train.routing", "ring"),
        ("vpods.alice", []),
    ],
)
def test_schema_and_parser_refuse_the_same(path: str, value: Any) -> None:
    document = copy.deepcopy(GOOD)
    assert list(SCHEMA.iter_errors(document)) == []
    parse_declaration(document)
    *parents, key = path.split(".")
    place = document
    for parent in parents:
        place = place[parent]
    if value is ...:
        del place[key]
    else:
        place[key] = value
    assert list(SCHEMA.iter_errors(document)) != []
    with pytest.raises(DeclarationError):
        parse_declaration(document)


def test_every_mapping_of_the_schema_takes_no_other_key() -> None:
    for path, key in KEYS.items():
        kind = key.kind.value if isinstance(key.kind, MapOf) else key.kind
        if isinstance(kind, Record):
            assert kind.json_schema["additionalProperties"] is False, path
