# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand-ins for words: whatever is no word of the systems themselves may be somebody's, and is replaced. Pure.

A name is replaced piece by piece, so that its dots, dashes and slashes stay, and names that share a piece share its
stand-in. Names of the inventory are replaced as a whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .addresses import ADDRESS, Addresses
from .vocabulary import NUMBERED, VOCABULARY

# What the systems number by themselves: ports, interfaces of the kernel, RDMA devices; and releases.
_KEPT = re.compile(
    r"(?:(?:Ethernet|Port-Channel|Management|Vlan|Loopback|Vxlan|Et|Po|Ma|Vl|Lo|Vx)\d[\d/.-]*(?:,\d[\d/.-]*)*"
    r"|(?:en[op]\d|ens\d|eth\d|ib[ops]?\d|bond\d|rnic\d|mlx\d_\d|rocep\d|ibp\d|rdmap\d|rxe\d|docker\d|virbr\d)\w*"
    r"(?:\.\d+)?"
    r"|MLNX_OFED_LINUX[\d.-]*|MT_\d{10}|0x[0-9A-Fa-f]{1,4})"
)
_TOKEN = re.compile(r"(?P<flag>(?<!\w)--[a-z][a-z0-9-]*)|(?P<token>\w[\w.@+-]*)")
_PIECE = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_NUMBERED = re.compile(r"([A-Za-z]+)(\d+)")
# A release such as 2F, a number with its unit; and so many digits in a row are a serial number, or the like.
_SHORT, _SERIAL, _OF_NAME = re.compile(r"\d+[A-Za-z]{0,2}"), 9, 3
# The counters of a driver, which nobody at the site has named.
_COUNTERS = ["program", "ethtool", "-S"]
_TO_SWITCH = (["text"], ["json"])


class Words:
    """The stand-ins of all names, words and addresses of one archive.

    Args:
        data: everything that will be replaced.
        names: that are replaced as a whole.
        key: as of :class:`.addresses.Addresses`.
    """

    def __init__(self, data: Any, names: Iterable[str], key: bytes) -> None:
        texts = list(_texts(data))
        self._addresses = Addresses(key, texts)
        self._originals = {piece for text in texts for piece in _PIECE.findall(text)}
        self._given: dict[str, str] = {}
        longest_first = sorted(set(names), key=lambda name: (-len(name), name))
        words = "|".join(map(re.escape, longest_first)) or "(?!)"
        self._found = re.compile(
            rf"{ADDRESS.pattern}|(?<!\w)(?P<name>{words})(?!\w)|(?<!\w)(?P<kept>{_KEPT.pattern})(?![\w.])|{_TOKEN.pattern}"
        )

    def replaced(self, data: Any) -> Any:
        """Plain data with stand-ins in all its texts, also in the names of fields."""
        if isinstance(data, str):
            return self.text(data)
        if isinstance(data, list):
            return [self.replaced(each) for each in data]
        if isinstance(data, Mapping):
            as_it_is = _as_it_is(data.get("asked", []))
            return {self.text(key): value if key == as_it_is else self.replaced(value) for key, value in data.items()}
        return data

    def text(self, text: str) -> str:
        """One text."""
        return self._found.sub(self._one, text)

    def _one(self, found: re.Match[str]) -> str:
        if found["name"]:
            return self._stand_in(found["name"])
        if found["kept"] or found["flag"]:
            return found[0]
        token = found["token"]
        return self._addresses.replaced(found) if token is None else self._token(token)

    def _token(self, token: str) -> str:
        pieces = _PIECE.findall(token)
        # The numbers of a name are part of it.
        longest = _SERIAL if all(map(is_known, pieces)) else _OF_NAME

        def one(found: re.Match[str]) -> str:
            piece = found[0]
            is_long = piece.isdigit() and len(piece) >= longest and piece.strip("0") not in ("", "1")
            return self._stand_in(piece) if is_long or not is_known(piece) else piece

        return _PIECE.sub(one, token)

    def _stand_in(self, word: str) -> str:
        if word not in self._given:
            number = len(self._given) + 1
            while (stand_in := f"w{number}") in self._originals or stand_in in self._given.values():
                number += 1
            self._given[word] = stand_in
        return self._given[word]


def _as_it_is(asked: Sequence[str]) -> str:
    """The part of an entry that holds no word of the site: commands to a switch, counters of a driver."""
    if list(asked[:1]) in _TO_SWITCH:
        return "asked"
    return "output" if list(asked[:3]) == _COUNTERS else ""


def is_known(piece: str) -> bool:
    """Whether a word is one of the systems, by itself or as its parts in CamelCase, or with a number."""
    if piece.lower() in VOCABULARY or _SHORT.fullmatch(piece) or _KEPT.fullmatch(piece):
        return True
    numbered = _NUMBERED.fullmatch(piece)
    if numbered and numbered[1].lower() in NUMBERED:
        return True
    parts = _PART.findall(piece)
    known = ((part.isdigit() and len(part) < _OF_NAME) or part.lower() in VOCABULARY for part in parts)
    return len(parts) > 1 and not parts[-1].isdigit() and "".join(parts) == piece and all(known)


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, list):
        for each in data:
            yield from _texts(each)
    elif isinstance(data, Mapping):
        for key, value in data.items():
            yield key
            yield from _texts(value)


def key_of(data: Any) -> bytes:
    """A key that only who has the data itself can make."""
    return json.dumps(data, sort_keys=True).encode()
