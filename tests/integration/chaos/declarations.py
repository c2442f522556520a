# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pods.yml of each seed: each changes what the one before it has left, by a random edit. Pure.

Two or three of four vPODs are there, each on a Poplar server of its own; one of them has a dedicated V-IPU controller.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from random import Random
from typing import Any

from tests.integration.chaos.stages import LOCK, LOOK, UNLOCK, VERIFY

NAMES = ("ada", "bea", "cyd", "dan")
SERVERS = ("pod001-poplar1", "pod001-poplar2", "pod001-poplar3", "pod001-poplar4")
SIZES = (4, 8)
VLANS = {name: 201 + number for number, name in enumerate(NAMES)}
# A vPOD has one of two VLANs.
OTHER_VLAN = 10
RNIC_MTUS, TOR_MTUS = (9000, 8900), (9214, 9150)
EVERY_RUN = (LOOK, LOCK, UNLOCK, VERIFY)
# How often an edit that is not always possible has its turn before those that are.
PREFERRED = 0.8

Document = dict[str, Any]
Vpods = dict[str, dict[str, Any]]


def first(document: Document) -> Document:
    """The pod before the first seed."""
    vpods = {"ada": _vpod("ada", SERVERS[0], 8, True), "bea": _vpod("bea", SERVERS[1], 4, False)}
    return {**copy.deepcopy(document), "vpods": vpods}


def there(document: Document) -> Vpods:
    """The vPODs that are not to go."""
    return {name: vpod for name, vpod in document["vpods"].items() if vpod.get("state") != "absent"}


def following(document: Document, stage: str, chance: Random) -> tuple[Document, str]:
    """The next document, whose run has something to do in a stage, and the name of the edit that makes it."""
    names = [name for name, (_, stages) in EDITS.items() if stage in (*stages, *EVERY_RUN)]
    chance.shuffle(names)
    names.sort(key=lambda name: name in ALWAYS and chance.random() < PREFERRED)
    for name in names:
        after = copy.deepcopy(document)
        after["vpods"] = there(after)
        if EDITS[name][0](after, chance):
            return after, name
    raise AssertionError(f"no edit has something to do in stage {stage}")


def _vpod(name: str, server: str, ipus: int, is_dedicated: bool) -> dict[str, Any]:
    words = {
        "cluster": "c001",
        "ipus": ipus,
        "vlan": VLANS[name],
        "poplar_servers": [server],
        "users": [name],
        "partitions": {f"{name}-train": {"ipus": 4}},
    }
    return {**words, "controller": "dedicated"} if is_dedicated else words


def _shared(document: Document) -> list[str]:
    return [name for name, vpod in document["vpods"].items() if "controller" not in vpod]


def _come(document: Document, chance: Random, is_dedicated: bool) -> None:
    taken = {server for vpod in document["vpods"].values() for server in vpod["poplar_servers"]}
    name = chance.choice([name for name in NAMES if name not in document["vpods"]])
    server = chance.choice([server for server in SERVERS if server not in taken])
    document["vpods"][name] = _vpod(name, server, chance.choice(SIZES), is_dedicated)


def _toggle(values: tuple[int, int], now: int) -> int:
    return values[1] if now == values[0] else values[0]


def _add(document: Document, chance: Random) -> bool:
    if len(_shared(document)) > 1:
        return False
    _come(document, chance, is_dedicated=False)
    return True


def _remove(document: Document, chance: Random) -> bool:
    shared = _shared(document)
    if len(shared) < 2:
        return False
    document["vpods"][chance.choice(shared)]["state"] = "absent"
    return True


def _replace(document: Document, chance: Random) -> bool:
    """The vPOD with a dedicated controller goes, and another such comes."""
    old = next(name for name in document["vpods"] if name not in _shared(document))
    _come(document, chance, is_dedicated=True)
    document["vpods"][old]["state"] = "absent"
    return True


def _exchange(document: Document, chance: Random) -> bool:
    """A vPOD with a shared controller goes, and another such comes; and the RNICs of all servers have another MTU."""
    old = chance.choice(_shared(document))
    _come(document, chance, is_dedicated=False)
    document["vpods"][old]["state"] = "absent"
    return _rnic_mtu(document, chance)


def _resize(document: Document, chance: Random) -> bool:
    vpod = chance.choice(list(document["vpods"].values()))
    vpod["ipus"] = _toggle(SIZES, vpod["ipus"])
    return True


def _move(document: Document, chance: Random) -> bool:
    vpods = document["vpods"]
    taken = {server for vpod in vpods.values() for server in vpod["poplar_servers"]}
    chance.choice(list(vpods.values()))["poplar_servers"] = [next(name for name in SERVERS if name not in taken)]
    return True


def _vlan(document: Document, chance: Random) -> bool:
    name = chance.choice(list(document["vpods"]))
    vpod = document["vpods"][name]
    vpod["vlan"] = _toggle((VLANS[name], VLANS[name] + OTHER_VLAN), vpod["vlan"])
    return True


def _partition(document: Document, chance: Random) -> bool:
    name = chance.choice(_shared(document))
    partition = document["vpods"][name]["partitions"][f"{name}-train"]
    partition["reconfigurable"] = not partition.get("reconfigurable", False)
    return True


def _rnic_mtu(document: Document, _chance: Random) -> bool:
    rnic = document["pods"]["pod001"]["rnic"]
    rnic["mtu"] = _toggle(RNIC_MTUS, rnic["mtu"])
    return True


def _tor_mtu(document: Document, _chance: Random) -> bool:
    tor = document["pods"]["pod001"]["tor"]
    tor["mtu"] = _toggle(TOR_MTUS, tor["mtu"])
    return True


# Changes the document, or says that it is not possible there.
Edit = Callable[[Document, Random], bool]
# Each with the stages in which its run has something to do, whatever is there.
EDITS: dict[str, tuple[Edit, tuple[str, ...]]] = {
    "add": (_add, ("8", "9", "11", "13")),
    "remove": (_remove, ("2", "4", "6", "7")),
    "replace": (_replace, ("2", "3", "6", "7", "8", "9", "12", "13")),
    "exchange": (_exchange, ("2", "4", "5", "6", "7", "8", "9", "10", "11", "13")),
    "resize": (_resize, ("7", "8", "13")),
    "move": (_move, ("9", "13")),
    "vlan": (_vlan, ("9",)),
    "partition": (_partition, ("4", "11")),
    "RNIC MTU": (_rnic_mtu, ("10",)),
    "ToR MTU": (_tor_mtu, ("9",)),
}
ALWAYS = ("replace", "exchange")
