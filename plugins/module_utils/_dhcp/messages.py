# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""DHCP messages inside Ethernet frames: a DISCOVER to send, an OFFER to understand. Pure."""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass

CLIENT_PORT, SERVER_PORT = 68, 67
DISCOVER, OFFER = 1, 2

_COOKIE = b"\x63\x82\x53\x63"
_MESSAGE_TYPE, _SERVER, _PARAMETERS, _PAD, _END = 53, 54, 55, 0, 255
_SUBNET_MASK, _ROUTER = 1, 3
# Answers have to come as broadcasts: the address that is offered is nobody's.
_BROADCAST = 0x8000
_BOOTP = struct.Struct("!BBBBIHH4s4s4s4s16s64s128s")
_IPV4, _UDP = 0x0800, 17


@dataclass(frozen=True)
class Offer:
    """A DHCP offer: the server, the address, and the MAC address of the client."""

    server: str
    address: str
    mac: str
    transaction: int


def discover_frame(own_mac: str, for_mac: str, transaction: int) -> bytes:
    """A DISCOVER as a broadcast frame from our own MAC, that asks for an address for ``for_mac``."""
    bootp = _BOOTP.pack(1, 1, 6, 0, transaction, 0, _BROADCAST, b"", b"", b"", b"", mac_bytes(for_mac), b"", b"")
    options = bytes((_MESSAGE_TYPE, 1, DISCOVER, _PARAMETERS, 2, _SUBNET_MASK, _ROUTER, _END))
    payload = bootp + _COOKIE + options
    udp = struct.pack("!HHHH", CLIENT_PORT, SERVER_PORT, 8 + len(payload), 0) + payload
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, _UDP, 0, b"\0" * 4, b"\xff" * 4)
    header = header[:10] + struct.pack("!H", _checksum(header)) + header[12:]
    return b"\xff" * 6 + mac_bytes(own_mac) + struct.pack("!H", _IPV4) + header + udp


def offer_in(frame: bytes) -> Offer | None:
    """The offer in a frame; None for anything else, however malformed."""
    payload = _dhcp_payload(frame)
    if payload is None or len(payload) < _BOOTP.size + len(_COOKIE):
        return None
    fields = _BOOTP.unpack_from(payload)
    if fields[0] != 2 or payload[_BOOTP.size : _BOOTP.size + len(_COOKIE)] != _COOKIE:
        return None
    options = _options(payload[_BOOTP.size + len(_COOKIE) :])
    if options.get(_MESSAGE_TYPE) != bytes((OFFER,)) or len(options.get(_SERVER, b"")) != 4:
        return None
    mac = ":".join(f"{byte:02x}" for byte in fields[11][:6])
    server = str(ipaddress.IPv4Address(options[_SERVER]))
    return Offer(server, str(ipaddress.IPv4Address(fields[8])), mac, fields[4])


def mac_bytes(mac: str) -> bytes:
    """The six bytes of a MAC address."""
    return bytes(int(part, 16) for part in mac.split(":"))


def _dhcp_payload(frame: bytes) -> bytes | None:
    """Return the payload of a UDP packet to a DHCP client."""
    if len(frame) < 34 or frame[12:14] != struct.pack("!H", _IPV4) or frame[23] != _UDP:
        return None
    udp = 14 + (frame[14] & 0x0F) * 4
    if frame[udp : udp + 4] != struct.pack("!HH", SERVER_PORT, CLIENT_PORT):
        return None
    return frame[udp + 8 :]


def _options(data: bytes) -> dict[int, bytes]:
    options = {}
    place = 0
    while place + 1 < len(data) and data[place] != _END:
        if data[place] == _PAD:
            place += 1
            continue
        length = data[place + 1]
        options[data[place]] = data[place + 2 : place + 2 + length]
        place += 2 + length
    return options


def _checksum(header: bytes) -> int:
    total: int = sum(struct.unpack(f"!{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
