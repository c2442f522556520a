# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand-ins for addresses that keep how they belong together. Pure.

* IPv4: a private address stays in its private range, and any two of a range share as many leading bits as before. The
  last 16 bits stay (of 192.168.0.0/16 the last 8), because they tell which scheme a pod's addresses follow. Public
  addresses go to 240.0.0.0/4, which is nobody's, each /16 as a whole. Loopback, multicast, link-local addresses and
  masks say nothing of a site, and stay.
* IPv6: unique local addresses stay in fd00::/8, global ones go to 2001:db8::/32, each /48 as a whole. An interface
  identifier that is made from a MAC address is made from that one's stand-in, and a mapped IPv4 address likewise.
* MAC addresses and GUIDs: the first three bytes stay, which say who has made the device; of those that somebody gave
  out locally only the first one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from hashlib import sha256
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from itertools import count

_HEX = "[0-9A-Fa-f]"
_PATTERNS = {
    # More than six bytes are the hardware address of an InfiniBand device.
    "octets": rf"(?<![\w:-])(?:{_HEX}{{2}}(?P<mark>[:-]))(?:{_HEX}{{2}}(?P=mark))*{_HEX}{{2}}(?![\w:])",
    "dotted": rf"(?<![\w.]){_HEX}{{4}}\.{_HEX}{{4}}\.{_HEX}{{4}}(?![\w.])",
    "guid": rf"(?<![\w:]){_HEX}{{4}}(?::{_HEX}{{4}}){{3}}(?![\w:])",
    "ipv6": rf"(?<![\w:.])(?={_HEX}*:{_HEX}*:)[0-9A-Fa-f:]+(?:(?<=:)\d+(?:\.\d+){{3}})?(?:/\d{{1,3}})?(?![\w:])",
    "ipv4": r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?:/\d{1,2})?(?!\w)(?!\.\d)",
    "bare": rf"(?<![0-9A-Za-z])(?:enx|wlx)?(?=[0-9]*[a-fA-F]){_HEX}{{12}}(?![0-9A-Za-z])",
}
ADDRESS = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _PATTERNS.items()))

_PRIVATE = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")))
_PUBLIC = 240
_LOCAL, _LINK = IPv6Network("fc00::/7"), IPv6Network("fe80::/10")
# The first 48 bits of 2001:db8::/32.
_DOCUMENTATION = 0x20010DB80000
# What the standard InfiniBand subnets, multicast MAC addresses and the like begin with.
_EVERYBODYS = ("000000", "ffffff", "0180c2", "01005e", "3333")
# In the middle of an interface identifier that is made from a MAC address.
_OF_MAC = 0xFFFE
_TRIED = 64


class Addresses:
    """The stand-ins of all addresses in some texts; ``key`` decides which they are."""

    def __init__(self, key: bytes, texts: Iterable[str]) -> None:
        self._key = key
        self._macs: set[str] = set()
        self._ips: set[IPv4Address | IPv6Address] = set()
        for text in texts:
            for found in ADDRESS.finditer(text):
                self._note(found)
        self._numbers: dict[str, dict[int, int]] = {}
        self._bits_of: dict[str, int] = {}
        self._given: dict[str, str] = {}

    def _note(self, found: re.Match[str]) -> None:
        text = found[0].partition("/")[0]
        if found["ipv4"] or found["ipv6"]:
            with suppress(ValueError):
                self._ips.add(ip_address(text))
        else:
            self._macs.add(re.sub("[^0-9a-f]", "", text.lower())[-12:])

    def replaced(self, found: re.Match[str]) -> str:
        """The stand-in of what :data:`ADDRESS` has found; that itself where it is no address after all."""
        text = found[0]
        readers = {
            "octets": self._octets,
            "dotted": self._dotted,
            "guid": self._guid,
            "ipv6": self._ipv6,
            "ipv4": self._ipv4,
            "bare": self._bare,
        }
        return next(read(text) for kind, read in readers.items() if found[kind])

    def _octets(self, text: str) -> str:
        mark = text[2]
        digits = text.replace(mark, "").lower()
        if len(digits) < 12:
            return text
        stand_in = self.mac(digits) if len(digits) == 12 else self._long(digits)
        return _in_case(text, mark.join(stand_in[at : at + 2] for at in range(0, len(stand_in), 2)))

    def _dotted(self, text: str) -> str:
        stand_in = self.mac(text.replace(".", "").lower())
        return _in_case(text, ".".join(stand_in[at : at + 4] for at in range(0, 12, 4)))

    def _bare(self, text: str) -> str:
        return text[:-12] + _in_case(text[-12:], self.mac(text[-12:].lower()))

    def _guid(self, text: str) -> str:
        stand_in = f"{self._interface(int(text.replace(':', ''), 16)):016x}"
        return _in_case(text, ":".join(stand_in[at : at + 4] for at in range(0, 16, 4)))

    def _long(self, digits: str) -> str:
        return f"{digits[:-16]}{self._interface(int(digits[-16:], 16)):016x}"

    def _ipv4(self, text: str) -> str:
        address, _slash, length = text.partition("/")
        try:
            value = IPv4Address(address)
        except ValueError:
            return text
        if not length:
            return str(self.ipv4(value))
        return _network(text, value, int(length), self.ipv4(value))

    def _ipv6(self, text: str) -> str:
        address, _slash, length = text.partition("/")
        try:
            value = IPv6Address(address)
        except ValueError:
            return text
        stand_in = self.ipv6(value)
        if length:
            return _network(text, value, int(length), stand_in)
        return stand_in.exploded if len(address) == len(value.exploded) else str(stand_in)

    def mac(self, digits: str) -> str:
        """The stand-in of a MAC address of twelve hexadecimal digits in lower case."""
        if digits.startswith(_EVERYBODYS):
            return digits
        kept = 2 if int(digits[1], 16) & 2 else 6
        if digits not in self._given:
            self._given[digits] = next(
                stand_in
                for turn in count()
                if (stand_in := digits[:kept] + self._digits(f"mac {digits} {turn}")[: 12 - kept]) not in self._macs
                and stand_in not in self._given.values()
            )
        return self._given[digits]

    def ipv4(self, address: IPv4Address) -> IPv4Address:
        """The stand-in of an IPv4 address."""
        if _is_everybodys(address):
            return address
        network = next((each for each in _PRIVATE if address in each), None)
        value = int(address)
        if network is None:
            number = self._number("ipv4", value >> 16, {int(each) >> 16 for each in self._ips}, _PUBLIC << 8)
            return IPv4Address((number << 16) + (value & 0xFFFF))
        kept = 16 if network.prefixlen < 16 else 8
        return IPv4Address(value ^ self._bits(network, 32 - network.prefixlen - kept, kept))

    def ipv6(self, address: IPv6Address) -> IPv6Address:
        """The stand-in of an IPv6 address."""
        if address.ipv4_mapped:
            return IPv6Address(0xFFFF00000000 + int(self.ipv4(address.ipv4_mapped)))
        if address.is_multicast or address.is_loopback or address.is_unspecified:
            return address
        value = int(address)
        return IPv6Address((self._prefix(address, value >> 64) << 64) + self._interface(value & (1 << 64) - 1))

    def _prefix(self, address: IPv6Address, prefix: int) -> int:
        if address in _LINK or prefix == 0:
            return prefix
        if address in _LOCAL:
            return prefix ^ self._bits(_LOCAL, 56, 64) >> 64
        number = self._number("ipv6", prefix >> 16, {int(each) >> 80 for each in self._ips}, _DOCUMENTATION)
        return (number << 16) + (prefix & 0xFFFF)

    def _interface(self, value: int) -> int:
        """The last 64 bits; a small number is that of a host, which was chosen by hand."""
        if value >> 24 & 0xFFFF == _OF_MAC:
            digits = f"{(value >> 40) ^ 0x020000:06x}{value & 0xFFFFFF:06x}"
            stand_in = self.mac(digits)
            return (int(stand_in[:6], 16) ^ 0x020000) << 40 | _OF_MAC << 24 | int(stand_in[6:], 16)
        if value < 1 << 16:
            return value
        # A GUID of InfiniBand begins with who has made it, too.
        return value ^ (int(self._digits("interface"), 16) >> 216 | 1 << 39)

    def _bits(self, network: IPv4Network | IPv6Network, length: int, kept: int) -> int:
        """The bits that change, the same for all addresses of a range; the first of them always does.

        Of some, those are taken with which no stand-in is an address of the site.
        """
        name = str(network)
        if name not in self._bits_of:
            there = {int(each) for each in self._ips if each.version == network.version and each in network}
            tried = [
                (int(self._digits(f"{name} {turn}"), 16) >> 256 - length | 1 << length - 1) << kept
                for turn in range(_TRIED)
            ]
            self._bits_of[name] = min(tried, key=lambda bits: len({each ^ bits for each in there} & there))
        return self._bits_of[name]

    def _number(self, kind: str, original: int, there: Collection[int], first: int) -> int:
        """The number of a range of addresses, from the first one on, without those that are there."""
        numbers = self._numbers.setdefault(kind, {})
        if original not in numbers:
            taken = {*numbers.values(), *there}
            numbers[original] = next(each for each in count(first) if each not in taken)
        return numbers[original]

    def _digits(self, purpose: str) -> str:
        return sha256(self._key + purpose.encode()).hexdigest()


def _is_everybodys(address: IPv4Address) -> bool:
    """Whether it says nothing of a site: of this host, for many hosts, or a mask."""
    value = int(address)
    hosts = value ^ 0xFFFFFFFF
    is_mask = hosts & hosts + 1 == 0
    return address.is_loopback or address.is_multicast or address.is_link_local or value >> 24 == 0 or is_mask


def _network(text: str, value: IPv4Address | IPv6Address, length: int, stand_in: IPv4Address | IPv6Address) -> str:
    """An address with the length of its prefix; that of a network is that of a network again."""
    size = value.max_prefixlen
    if length > size:
        return text
    hosts = (1 << size - length) - 1
    number = int(stand_in) if int(value) & hosts else int(stand_in) & ~hosts
    return f"{type(stand_in)(number)}/{length}"


def _in_case(text: str, stand_in: str) -> str:
    return stand_in.upper() if text == text.upper() else stand_in
