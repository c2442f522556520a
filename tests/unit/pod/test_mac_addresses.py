# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""MAC addresses are read in any spelling and written in one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._pod import mac_addresses
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.mac_addresses import mac_address, mac_of

SPELLINGS = ("0c:42:a1:00:01:01", "0C:42:A1:00:01:01", "0c-42-a1-00-01-01", "0c42.a100.0101", "0c42a1000101")


def declared(mac: object) -> dict[str, object]:
    pod = {"model": "bow-pod64", "overrides": {"pod001-poplar1": {"rnic_mac": mac}}}
    return {"plugin": "ipu.pod.pods", "schema": 1, "pods": {"pod001": pod}}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_is_one_address(spelling: str) -> None:
    assert mac_address(spelling) == "0c:42:a1:00:01:01"
    declaration = parse_declaration(declared(spelling))
    assert declaration.pods["pod001"].overrides["pod001-poplar1"]["rnic_mac"] == "0c:42:a1:00:01:01"


@pytest.mark.parametrize("text", ["", "rnic0", "Ethernet1/1", "0c:42:a1:00:01", "0c:42:a1:00:01:1", "0c42a100010", 7])
def test_what_is_none_is_refused(text: object) -> None:
    with pytest.raises(DeclarationError, match=r"rnic_mac: .* is not a MAC address such as 0c:42:a1:00:01:01"):
        parse_declaration(declared(text))


@given(st.text())
def test_any_text_is_one_or_none(text: str) -> None:
    assert mac_address(text) in (None, mac_address(mac_address(text) or ""))


def test_six_numbers_are_one() -> None:
    assert mac_of((2, 1, 10, 5, 1, 101)) == "02:01:0a:05:01:65"


def test_without_netaddr_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mac_addresses, "netaddr", None)
    with pytest.raises(DeclarationError, match=r"^the control node lacks the Python package netaddr; .*$"):
        parse_declaration(declared("0c:42:a1:00:01:01"))
