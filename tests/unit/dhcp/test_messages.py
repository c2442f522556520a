# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""DHCP messages, byte for byte where it matters, and that no frame from the wire breaks the parser."""

from __future__ import annotations

import struct

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._dhcp.messages import Offer, discover_frame, offer_in

OWN = "04:3f:72:00:01:02"
OTHER = "0c:42:a1:00:01:01"


def offer_frame(kind: int = 2, op: int = 2) -> bytes:
    bootp = struct.pack("!BBBBIHH", op, 1, 6, 0, 0x1234, 0, 0x8000)
    bootp += bytes(4) + bytes((10, 5, 1, 1)) + bytes(8) + bytes.fromhex(OTHER.replace(":", "")).ljust(16, b"\0")
    bootp += bytes(192) + b"\x63\x82\x53\x63" + bytes((0, 53, 1, kind, 54, 4, 10, 5, 255, 254, 255))
    udp = struct.pack("!HHHH", 67, 68, 8 + len(bootp), 0) + bootp
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, bytes(4), b"\xff" * 4)
    return b"\xff" * 6 + bytes(6) + b"\x08\x00" + header + udp


def test_a_discover_is_sent_from_our_own_mac_and_asks_for_another() -> None:
    frame = discover_frame(OWN, OTHER, 0x1234)
    assert frame[:12].hex(":") == f"ff:ff:ff:ff:ff:ff:{OWN}"
    assert frame[42 + 28 : 42 + 34].hex(":") == OTHER
    # The broadcast flag: what is offered is nobody's address, so an answer to it would be lost.
    assert frame[42 + 10 : 42 + 12] == b"\x80\x00"
    header = struct.unpack("!10H", frame[14:34])
    assert sum(header) % 0xFFFF == 0


def test_an_offer_is_understood() -> None:
    assert offer_in(offer_frame()) == Offer("10.5.255.254", "10.5.1.1", OTHER, 0x1234)


def test_nothing_else_is_an_offer() -> None:
    assert offer_in(discover_frame(OWN, OTHER, 1)) is None
    assert offer_in(offer_frame(kind=5)) is None
    assert offer_in(offer_frame(op=1)) is None
    assert offer_in(b"") is None


def test_a_frame_that_is_cut_anywhere_is_no_offer() -> None:
    frame = offer_frame()
    # The last byte only ends the options.
    assert [cut for cut in range(len(frame)) if offer_in(frame[:cut])] == [len(frame) - 1]


@given(place=st.integers(0, 292), byte=st.integers(0, 255))
def test_no_frame_breaks_the_parser(place: int, byte: int) -> None:
    frame = bytearray(offer_frame())
    frame[place] = byte
    offer_in(bytes(frame))
