# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each refusal names the line and the column of its key, or of the nearest parent that stands in the file."""

from __future__ import annotations

import json

import pytest
import yaml

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.positions import located
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError, Problem

TEXT = """\
# One rack.
schema: 1
base: &base {lrack: 1, rnic: {mtu: 9000}}
pods:
  pod:
    <<: *base
    model: bow-pod64
  pod.1:
    <<: [*base, {lrack: 2}]
    lrack: 3
    tor:
      ports:
        Et9/1: {vlans: [1, 100-110]}
vpods:
  alice:
    users:
      - ann
      - bob
    poplar_servers: [a, b]
  101:
    cluster: c
"""


def place(path: str, text: str = TEXT) -> str:
    (problem,) = located([Problem(path, "is wrong")], text, "pods.yml")
    return str(problem).removesuffix(f"{path}: is wrong").rstrip()


@pytest.mark.parametrize(
    ("path", "position"),
    [
        ("schema", "pods.yml:2:1:"),
        ("pods.pod", "pods.yml:5:3:"),
        ("pods.pod.model", "pods.yml:7:5:"),
        # Names may have dots.
        ("pods.pod.1", "pods.yml:8:3:"),
        ("pods.pod.1.tor.ports.Et9/1", "pods.yml:13:9:"),
        ("pods.pod.1.tor.ports.Et9/1.vlans[1]", "pods.yml:13:28:"),
        # What is merged in stands where it is written; a key of its own comes before it.
        ("pods.pod.rnic.mtu", "pods.yml:3:31:"),
        ("pods.pod.1.rnic.mtu", "pods.yml:3:31:"),
        ("pods.pod.1.lrack", "pods.yml:10:5:"),
        ("vpods.alice.users[1]", "pods.yml:18:9:"),
        ("vpods.alice.poplar_servers[1]", "pods.yml:19:25:"),
        ("vpods.101.cluster", "pods.yml:21:5:"),
        # What is not there is said of its nearest parent.
        ("vpods.alice.ipus", "pods.yml:15:3:"),
        ("vpods.alice.partitions.train.ipus", "pods.yml:15:3:"),
        ("vpods.alice.users[7]", "pods.yml:16:5:"),
        ("vpods.alic", "pods.yml:14:1:"),
        ("pods.po", "pods.yml:4:1:"),
        ("controllers", "pods.yml:2:1:"),
        ("schema.1.more", "pods.yml:2:1:"),
    ],
)
def test_a_key_path_has_a_place(path: str, position: str) -> None:
    assert place(path) == position


def test_json_has_places_too() -> None:
    text = json.dumps({"pods": {"p": {"model": "x"}}}, indent=2)
    assert place("pods.p.model", text) == "pods.yml:4:7:"
    # Ansible takes tabs in JSON; YAML has none.
    assert place("pods.p.model", text.replace("  ", "\t")) == ""


@pytest.mark.parametrize("text", ["", "# nothing\n"])
def test_a_file_that_holds_nothing_has_no_places(text: str) -> None:
    assert place("pods", text) == ""


def test_what_is_about_no_key_has_no_place() -> None:
    assert [str(each) for each in located([Problem("", "netaddr is missing")], TEXT, "pods.yml")] == [
        "netaddr is missing"
    ]


def test_text_of_the_file_is_data() -> None:
    text = "pods:\n  '.*': {}\n  'a(': {}\n  !vault x: {}\n"
    assert [place(path, text) for path in ("pods.a", "pods.a(", "pods..*", "pods.x")] == [
        "pods.yml:1:1:",
        "pods.yml:3:3:",
        "pods.yml:2:3:",
        "pods.yml:4:3:",
    ]


def test_line_and_column_are_data_beside_the_sentence() -> None:
    text = "schema: 1\npods:\n  p: {model: x}\n"
    with pytest.raises(DeclarationError) as caught:
        parse_declaration(yaml.safe_load(text))
    sentence = "'x' is not known; use one of bow-pod64, ipu-pod64"
    assert caught.value.problems == [f"pods.p.model: {sentence}"]
    assert located(caught.value.found, text, "pods.yml") == [Problem("pods.p.model", sentence, "pods.yml", 3, 7)]


def test_contradictions_have_places() -> None:
    text = "schema: 1\npods:\n  a: {model: bow-pod64}\n  b: {model: bow-pod64, addressing: factory}\n"
    with pytest.raises(DeclarationError) as caught:
        parse_declaration(yaml.safe_load(text))
    assert [(each.path, each.line, each.column) for each in located(caught.value.found, text, "pods.yml")] == [
        ("pods.b.addressing", 4, 25)
    ]
