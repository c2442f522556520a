# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever a site calls its devices and people: nothing of it survives, and what is understood stays the same."""

from __future__ import annotations

import json
import re
from ipaddress import IPv4Address, IPv6Address
from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._look.switch import look_at
from ansible_collections.ipu.pod.plugins.module_utils._recording.facts import facts_of, understood
from ansible_collections.ipu.pod.plugins.module_utils._recording.recording import Recording
from ansible_collections.ipu.pod.plugins.plugin_utils._anonymous.addresses import ADDRESS, Addresses
from ansible_collections.ipu.pod.plugins.plugin_utils._anonymous.archive import archive_of, facts_by_device
from ansible_collections.ipu.pod.plugins.plugin_utils._anonymous.words import is_known
from tests.support.in_memory.switch import InProcessSwitch

# No stand-in, no number and no word of the systems looks so; a part of one of these may be such a word.
WORDS = st.from_regex(r"[b-v]{3,6}q[xz]", fullmatch=True).filter(lambda word: not is_known(word))
NAMES = st.lists(WORDS, min_size=1, max_size=3).map("-".join)
PRIVATE = st.integers(0, 2**24 - 1).map(lambda number: IPv4Address((10 << 24) + number))
PUBLIC = st.integers(0x08000000, 0x09FFFFFF).map(IPv4Address)
IPV6 = st.integers(0x2A00 << 112, (0x2A01 << 112) - 1).map(IPv6Address)
LOCAL = st.integers(0xFD00 << 112, (0xFE00 << 112) - 1).map(IPv6Address)
MACS = st.integers(0, 2**24 - 1).map(lambda number: "0c:42:a1:" + ":".join(re.findall("..", f"{number:06x}")))


def replaced(texts: list[str]) -> list[str]:
    addresses = Addresses(b"key", texts)
    return [ADDRESS.sub(addresses.replaced, text) for text in texts]


@given(st.lists(PRIVATE | PUBLIC | IPV6 | LOCAL, min_size=1, max_size=12, unique=True))
def test_different_addresses_stay_different_and_equal_ones_equal(addresses: list[IPv4Address | IPv6Address]) -> None:
    texts = list(map(str, addresses))
    stand_ins = replaced(texts + texts)
    assert stand_ins[: len(texts)] == stand_ins[len(texts) :]
    assert len(set(stand_ins)) == len(texts)
    assert not set(stand_ins) & set(texts)


@given(st.lists(PRIVATE, min_size=2, max_size=8, unique=True))
def test_private_addresses_share_as_many_leading_bits_as_before(addresses: list[IPv4Address]) -> None:
    stand_ins = [IPv4Address(text) for text in replaced(list(map(str, addresses)))]
    for (one, first), (other, second) in combinations(zip(addresses, stand_ins, strict=True), 2):
        assert int(one) ^ int(other) == int(first) ^ int(second)


@given(st.lists(MACS, min_size=1, max_size=12, unique=True))
def test_different_mac_addresses_stay_different(macs: list[str]) -> None:
    stand_ins = replaced(macs)
    assert len(set(stand_ins)) == len(macs)
    assert not set(stand_ins) & set(macs)
    assert {stand_in[:8] for stand_in in stand_ins} == {"0c:42:a1"}


@given(
    host=NAMES,
    user=NAMES,
    vlan=NAMES,
    texts=st.lists(WORDS, min_size=1, max_size=4),
    neighbour=NAMES,
    mac=MACS,
    address=PRIVATE | PUBLIC,
)
def test_nothing_of_a_site_survives_and_a_switch_is_understood_as_before(
    host: str, user: str, vlan: str, texts: list[str], neighbour: str, mac: str, address: IPv4Address
) -> None:
    switch = InProcessSwitch()
    switch.type(
        "configure",
        f"hostname {host}",
        f"username {user} secret sha512 $6$abc{mac[-2:]}",
        f"ntp server {address}",
        "vlan 101",
        f"name {vlan}",
        "interface Ethernet9/1",
        f"description {' '.join(texts)} {mac}",
        "end",
    )
    recording = Recording()
    parts = look_at(recording.send(switch.send), "", lambda: 0.0)
    entries: Any = json.loads(json.dumps(recording.entries))
    seen = {"asked": ["json", "show x"], "answers": [{"json": {neighbour: {"device": neighbour, "macAddress": mac}}}]}
    archive = archive_of({host: {"kind": "switch", "answers": [*entries, seen]}}, [user], [], "simulated", {})
    text = json.dumps(archive).lower()
    pieces = {piece for name in (host, user, vlan, neighbour, *texts) for piece in name.split("-")}
    assert [piece for piece in pieces if piece in text] == []
    assert mac not in text
    assert str(address) not in text
    assert "$6$" not in text
    (device,) = archive["devices"].values()
    assert facts_of(understood(device)) == facts_of(parts)
    assert facts_by_device(json.loads(json.dumps(archive))) == {name: facts_of(parts) for name in archive["devices"]}
