# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""EOS's spellings of one and the same thing, as data: port names, VLAN lists, the lines of a port. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Callable, Iterable

VLAN_IDS = range(1, 4095)
EVERY_VLAN = ["1-4094"]
MTU_BYTES = range(68, 9215)
UNSHOWN_MTU = 1500
"""EOS takes this for its default and shows no line for it; a switched port without such a line carries 9214 bytes."""

ACCESS, TRUNK, ROUTED = "access", "trunk", "routed"

# Any beginning of the full name that has at least so many letters names the same kind of port.
_PORT_KINDS = (("Ethernet", 2), ("Port-Channel", 2))
_PORT_NAME = re.compile(r"([a-z-]+?)\s*(\d+(?:/\d+)*)", re.IGNORECASE)


def port_name(text: str) -> str:
    """The name as the running-config spells it: ``Ethernet9/1`` for ``Et9/1``, ``eth 9/1`` or ``ethernet9/1``.

    Raises:
        ValueError: ``text`` names no Ethernet port or port channel.
    """
    match = _PORT_NAME.fullmatch(text.strip())
    if match:
        beginning, number = match.groups()
        for kind, letters in _PORT_KINDS:
            if len(beginning) >= letters and kind.lower().startswith(beginning.lower()):
                return kind + "/".join(str(int(part)) for part in number.split("/"))
    raise ValueError(f"{text!r} is no port name; write for example Ethernet9/1 or Et9/1")


def vlan_ids(ranges: Iterable[str]) -> frozenset[int]:
    """The VLAN IDs in ``["100-102", "200"]``; an item may itself be a list as EOS writes it, ``"100-102,200"``.

    Raises:
        ValueError: an item is no VLAN ID and no range, or lies outside 1 to 4094.
    """
    ids: list[int] = []
    for item in ",".join(ranges).split(",") if ranges else []:
        match = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", item)
        if not match:
            raise ValueError(f"{item!r} is no VLAN ID or range; write for example 100 or 100-110")
        first, last = int(match.group(1)), int(match.group(2) or match.group(1))
        if first > last or first not in VLAN_IDS or last not in VLAN_IDS:
            raise ValueError(f"{item.strip()!r} is outside the VLAN IDs 1 to 4094, or runs backwards")
        ids.extend(range(first, last + 1))
    return frozenset(ids)


def vlan_ranges(ids: Iterable[int]) -> list[str]:
    """The shortest ordered spelling of some VLAN IDs: ``["100-102", "200"]``."""
    runs: list[list[int]] = []
    for vlan_id in sorted(ids):
        if runs and vlan_id == runs[-1][1] + 1:
            runs[-1][1] = vlan_id
        else:
            runs.append([vlan_id, vlan_id])
    return [str(first) if first == last else f"{first}-{last}" for first, last in runs]


def default_vlan_name(vlan_id: int) -> str:
    """What EOS calls a VLAN that nobody named."""
    return "default" if vlan_id == 1 else f"VLAN{vlan_id:04d}"


@dataclass(frozen=True)
class PortField:
    """One setting of a port: how EOS spells it in the running-config, and the line that sets it.

    Args:
        name: the field in a state, and the option of the module.
        default: what holds where the running-config has no line for it.
        spellings: (pattern of a whole line, value from the pattern's group or None), in any release of EOS.
        line: the configuration line that sets a value.
    """

    name: str
    default: Any
    spellings: tuple[tuple[str, Callable[[str | None], Any]], ...]
    line: Callable[[Any], str]

    def value(self, line: str) -> Any | None:
        """The value that a line of the running-config gives this field; None where the line is not about it."""
        for pattern, value in self.spellings:
            match = re.fullmatch(pattern, line)
            if match:
                return value(match.group(1) if match.re.groups else None)
        return None


def _always(value: Any) -> Callable[[str | None], Any]:
    return lambda _: value


def _allowed_line(ranges: list[str]) -> str:
    if ranges == EVERY_VLAN:
        return "no switchport trunk allowed vlan"
    return f"switchport trunk allowed vlan {','.join(ranges) or 'none'}"


def _number(text: str | None) -> int:
    return int(text or 0)


PORT_FIELDS = (
    PortField(
        "description",
        "",
        ((r"description (.+)", lambda text: text), (r"no description", _always(""))),
        lambda text: f"description {text}" if text else "no description",
    ),
    PortField(
        "mtu",
        9214,
        ((r"mtu (\d+)", _number), (r"no mtu", _always(9214))),
        lambda size: f"mtu {size}",
    ),
    PortField(
        "enabled",
        True,
        ((r"shutdown", _always(False)), (r"no shutdown", _always(True))),
        lambda enabled: "no shutdown" if enabled else "shutdown",
    ),
    PortField(
        "vlan",
        1,
        ((r"switchport access vlan (\d+)", _number), (r"no switchport access vlan", _always(1))),
        lambda vlan_id: f"switchport access vlan {vlan_id}",
    ),
    PortField(
        "native_vlan",
        1,
        ((r"switchport trunk native vlan (\d+)", _number), (r"no switchport trunk native vlan", _always(1))),
        lambda vlan_id: f"switchport trunk native vlan {vlan_id}",
    ),
    PortField(
        "allowed_vlans",
        EVERY_VLAN,
        (
            (r"switchport trunk allowed vlan ([\d,-]+)", lambda text: vlan_ranges(vlan_ids([text or ""]))),
            (r"switchport trunk allowed vlan none", _always([])),
            (r"switchport trunk allowed vlan all|no switchport trunk allowed vlan", _always(EVERY_VLAN)),
        ),
        _allowed_line,
    ),
    PortField(
        "mode",
        ACCESS,
        (
            (r"switchport mode (\S+)", lambda text: text),
            (r"switchport|no switchport mode", _always(ACCESS)),
            (r"no switchport", _always(ROUTED)),
        ),
        lambda mode: f"switchport mode {mode}",
    ),
)
