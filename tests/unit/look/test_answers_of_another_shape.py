# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers that are JSON of another shape than is documented: one sentence about the part, and no more of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._look.switch import look_at
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from ansible_collections.ipu.pod.plugins.module_utils._vipu.cli import Controller
from tests.support.hostile import HOSTILE, is_seen
from tests.support.hostile_programs import entities
from tests.support.in_memory.switch import InProcessSwitch

# A mapping with more entries is one of things, and not of fields.
MANY = 20
# As text, since what is nested that deep cannot be written by Python either.
DEEP = "[" * 10_000
SHAPES = ["null", "0", "-1", "1e999", "true", '"text"', "[]", "[1]", '["text"]', "{}", '{"a": 1}', "", "{", DEEP]
SHAPES += [json.dumps(text) for text in HOSTILE.values() if len(text) < 1000]


@pytest.fixture(name="answers", scope="module")
def _answers() -> dict[str, str]:
    """Command to answer of a switch that has something to say to each."""
    found: dict[str, str] = {}
    switch = InProcessSwitch("configure", "vlan 101", "interface Ethernet9/1", "switchport access vlan 101")
    switch.observe(
        neighbours={"Ethernet9/1": {"device": "p-ipum1", "port": "eth0", "mac": "04:3f:72:00:01:02"}},
        macs=[{"port": "Ethernet9/1", "mac": "04:3f:72:00:01:02"}],
        counters={"Ethernet9/1": {"fcsErrors": 3, "rxPause": 5, "txPause": 7, "ecn": {"3": 11}}},
    )

    def send(commands: Sequence[str], output: str) -> list[str]:
        said = switch.send(commands, output)
        found.update(zip(commands, said, strict=True))
        return said

    look_at(send, "here", lambda: 0.0)
    return found


def others(answer: Any) -> Iterator[str]:
    """The answer with one place of it replaced; of the entries of a list or a mapping, in the first one."""
    yield from SHAPES
    if isinstance(answer, list) and answer:
        yield from (f"[{other}]" for other in others(answer[0]))
    elif isinstance(answer, dict):
        few = answer if len(answer) < MANY else dict(list(answer.items())[:1])
        for key, value in few.items():
            rest = "".join(f", {json.dumps(each)}: {json.dumps(item)}" for each, item in few.items() if each != key)
            yield from (f"{{{json.dumps(key)}: {other}{rest}}}" for other in others(value))


def commands_of(answers: dict[str, str]) -> list[str]:
    return [command for command, said in answers.items() if said.startswith("{")]


def test_no_answer_of_a_switch_ends_a_look_with_more_than_a_sentence_about_its_part(answers: dict[str, str]) -> None:
    assert len(commands_of(answers)) > 5
    for asked in commands_of(answers):
        for other in others(json.loads(answers[asked])):

            def send(commands: Sequence[str], _output: str, asked: str = asked, other: str = other) -> list[str]:
                return [{**answers, asked: other}[command] for command in commands]

            parts = look_at(send, "here", lambda: 0.0)
            json.dumps(parts)
            assert all(is_seen(part["message"]) for part in parts.values() if "message" in part)


# Half of a character, which JSON can say and no file can hold.
HALF = "\\udcff"


def test_half_a_character_in_a_neighbours_name_keeps_nothing_from_being_handed_on(
    answers: dict[str, str],
) -> None:
    said = {command: answer.replace("p-ipum1", HALF) for command, answer in answers.items()}
    assert said != answers
    parts = look_at(lambda commands, _output: [said[command] for command in commands], "here", lambda: 0.0)
    assert "message" not in parts["info"]
    assert json.dumps(parts, ensure_ascii=False).encode()


def test_half_a_character_in_an_entitys_name_keeps_nothing_from_being_handed_on() -> None:
    said = {kind: json.dumps({kind: listed}) for kind, listed in entities([json.loads(f'"{HALF}"')]).items()}
    found = Controller(lambda argv: (0, said[argv[-1]], ""), "vipu-admin", "127.0.0.1", 8191).read()
    assert {len(names) for names in found.values()} == {2}
    assert json.dumps(found, ensure_ascii=False).encode()


LISTED = {
    "partitions": [
        {
            "metadata": {"id": "train", "state": "ACTIVE"},
            "spec": {"size": 4, "allocation": "alice"},
            "status": {"state": "ACTIVE"},
        }
    ]
}


ASKED: dict[str, Callable[[Controller], Any]] = {
    "entities": Controller.read,
    "status": lambda controller: controller.partition_status("train"),
    "configuration": lambda controller: controller.ipuof_configuration("train", 0),
    "attributes": Controller.ipu_attributes,
    "discovered agents": Controller.discovered_agents,
}


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
def test_no_answer_of_vipu_admin_is_more_than_one_sentence(ask: Callable[[Controller], Any]) -> None:
    messages = []
    for said in others(LISTED):
        try:
            ask(Controller(lambda _argv, said=said: (0, said, ""), "vipu-admin", "127.0.0.1", 8191))
        except DeviceError as error:
            messages.append(str(error))
    assert messages
    assert list(filter(is_seen, messages)) == messages
