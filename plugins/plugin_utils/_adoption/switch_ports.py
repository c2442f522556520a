# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The declaration in pods.yml that keeps one port as it is. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._tor.settings import FROM_CHANNEL, PORT_DEFAULTS
from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import ACCESS, TRUNK, vlan_ids, vlan_ranges

from .._declaration.keys import PORT_SETTINGS
from .._pod.kinds import Problems
from .adoption import Document

Fields = Mapping[str, Any]

VLAN_FIELDS = {ACCESS: ("vlan",), TRUNK: ("native_vlan", "allowed_vlans")}


def words_for(fields: Fields, derived: Fields, names: Mapping[int, str]) -> Document:
    """The words that make of what is ``derived`` what is there. What pods.yml has no words for is left out.

    A derived field that is missing or None is EOS's default on a new switch. ``names`` are those of VLANs in pods.yml.
    """
    words: Document = {}
    for name in _declarable(fields):
        otherwise = PORT_DEFAULTS[name] if derived.get(name) is None else derived[name]
        if not _is_same(name, fields[name], otherwise):
            word, value = _word(name, fields[name], names)
            if _can_be_declared(word, value):
                words[word] = value
    return words


def vlans_at_stake(fields: Fields, derived: Fields, names: Mapping[int, str]) -> Document:
    """The words for the VLANs of a trunk that carries what it must not carry unless that is declared; else none."""
    refused = vlan_ids(derived.get("not_allowed_vlans") or [])
    if fields.get("mode") != TRUNK or refused.isdisjoint(vlan_ids(fields["allowed_vlans"])):
        return {}
    word, value = _word("allowed_vlans", fields["allowed_vlans"], names)
    return {word: value}


def is_in_use(fields: Fields) -> bool:
    """Whether anybody has configured this port."""
    return any(not _is_same(name, fields[name], PORT_DEFAULTS[name]) for name in PORT_DEFAULTS if name in fields)


def disagreements(fields: Fields, wanted: Fields) -> list[str]:
    """The wanted fields that the port does not have."""
    return [
        name
        for name, value in wanted.items()
        if name in PORT_DEFAULTS and value is not None and not _is_same(name, fields.get(name), value)
    ]


def _is_same(name: str, one: Any, other: Any) -> bool:
    """Whether two values of a field are the same; VLAN lists may be spelled differently."""
    if name == "allowed_vlans" and isinstance(one, list) and isinstance(other, list):
        return vlan_ids([str(each) for each in one]) == vlan_ids([str(each) for each in other])
    return bool(one == other)


def _declarable(fields: Fields) -> list[str]:
    """The fields that say something of a port as it is now, in the order of the words."""
    dormant = {name for mode, names in VLAN_FIELDS.items() if mode != fields.get("mode") for name in names}
    of_channel = FROM_CHANNEL if fields.get("channel_group") else ()
    order = ["allowed_vlans" if word == "vlans" else word for word in PORT_SETTINGS.kinds]
    return [name for name in order if name in fields and name not in dormant and name not in of_channel]


def _word(name: str, value: Any, names: Mapping[int, str]) -> tuple[str, Any]:
    if name == "allowed_vlans":
        return "vlans", [_spelled(run, names) for run in vlan_ranges(vlan_ids(value))]
    return name, names.get(value, value) if name in ("vlan", "native_vlan") else value


def _spelled(run: str, names: Mapping[int, str]) -> int | str:
    return run if "-" in run else names.get(int(run), int(run))


def _can_be_declared(word: str, value: Any) -> bool:
    problems = Problems()
    PORT_SETTINGS.kinds[word].check(value, word, problems)
    return not problems.found
