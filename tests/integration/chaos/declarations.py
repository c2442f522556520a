# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What pods.yml says from seed to seed: each changes what the one before it has left, by a random edit. Pure.

One or two of three vPODs are there, each on a Poplar server of its own; one of them has a dedicated V-IPU controller.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from random import Random
from typing import Any

from tests.integration.chaos.stages import LOCK, LOOK, NUMBERED, STAGES, UNLOCK, VERIFY

NAMES = ("ada", "bea", "cyd")
SERVERS = ("pod001-poplar1", "pod001-poplar2", "pod001-poplar3")
SIZES = (4, 8, 16)
OTHERS_FIRST = 0.8
EVERY_RUN = (LOOK, LOCK, UNLOCK, VERIFY)

Document = dict[str, Any]
Vpods = dict[str, dict[str, Any]]
# Changes the document, or says that it is not possible there.
Edit = Callable[[Document, Random], bool]


def first(document: Document) -> Document:
    """What there is before the first seed."""
    vpods = {"ada": _vpod("ada", SERVERS[0], 8, True), "bea": _vpod("bea", SERVERS[1], 4, False)}
    return {**copy.deepcopy(document), "vpods": vpods}


def there(document: Document) -> Vpods:
    """The vPODs that are not to go."""
    return {name: vpod for name, vpod in document["vpods"].items() if vpod.get("state") != "absent"}


def following(document: Document, stage: str, chance: Random) -> tuple[Document, str]:
    """The next document, whose run has something to do in a stage, and the name of the edit that makes it."""
    candidates = [name for name, (_, stages) in EDITS.items() if stage in (*stages, *EVERY_RUN)]
    chance.shuffle(candidates)
    # A replacement is always possible, and has something to do in every stage; the others have their turn first.
    for name in sorted(candidates, key=lambda name: name == "replace" and chance.random() < OTHERS_FIRST):
        after = copy.deepcopy(document)
        after["vpods"] = there(after)
        if EDITS[name][0](after, chance):
            return after, name
    raise AssertionError(stage)


def _vpod(name: str, server: str, ipus: int, is_dedicated: bool) -> dict[str, Any]:
    words = {
        "cluster": "c001",
        "ipus": ipus,
        "vlan": 201 + NAMES.index(name),
        "poplar_servers": [server],
        "users": [name],
        "partitions": {f"{name}-train": {"ipus": 4}},
    }
    return {**words, "controller": "dedicated"} if is_dedicated else words


def _is_dedicated(vpod: dict[str, Any]) -> bool:
    return vpod.get("controller") == "dedicated"


def _free_servers(document: Document) -> list[str]:
    taken = {server for vpod in document["vpods"].values() for server in vpod["poplar_servers"]}
    return [server for server in SERVERS if server not in taken]


def _add(document: Document, chance: Random) -> bool:
    if len(document["vpods"]) > 1:
        return False
    name = chance.choice([name for name in NAMES if name not in document["vpods"]])
    server = chance.choice(_free_servers(document))
    document["vpods"][name] = _vpod(name, server, chance.choice(SIZES), False)
    return True


def _remove(document: Document, _chance: Random) -> bool:
    vpods = document["vpods"]
    other = next((name for name in vpods if not _is_dedicated(vpods[name])), None)
    if other:
        vpods[other]["state"] = "absent"
    return other is not None


def _replace(document: Document, chance: Random) -> bool:
    """A vPOD with a dedicated controller goes, and another such comes."""
    vpods = document["vpods"]
    old = next(name for name in vpods if _is_dedicated(vpods[name]))
    new = chance.choice([name for name in NAMES if name not in vpods])
    vpods[new] = _vpod(new, chance.choice(_free_servers(document)), chance.choice(SIZES), True)
    vpods[old]["state"] = "absent"
    return True


def _resize(document: Document, chance: Random) -> bool:
    vpod = chance.choice(list(document["vpods"].values()))
    vpod["ipus"] = chance.choice([size for size in SIZES if size != vpod["ipus"]])
    return True


def _move(document: Document, chance: Random) -> bool:
    chance.choice(list(document["vpods"].values()))["poplar_servers"] = [chance.choice(_free_servers(document))]
    return True


def _vlan(document: Document, chance: Random) -> bool:
    vpod = chance.choice(list(document["vpods"].values()))
    vpod["vlan"] += 10 if vpod["vlan"] < 210 else -10
    return True


def _partition(document: Document, chance: Random) -> bool:
    name, vpod = chance.choice(list(document["vpods"].items()))
    partition = vpod["partitions"][f"{name}-train"]
    partition["reconfigurable"] = not partition.get("reconfigurable", False)
    return True


def _mtu(document: Document, chance: Random) -> bool:
    tor = document["pods"]["pod001"]["tor"]
    tor["mtu"] = chance.choice([mtu for mtu in (9100, 9150, 9214) if mtu != tor["mtu"]])
    return True


# Each with the stages in which its run has something to do, whatever is there.
EDITS: dict[str, tuple[Edit, tuple[str, ...]]] = {
    "add": (_add, ("7", "8", "9", "10", "12")),
    "remove": (_remove, ("1", "3", "4", "5", "6")),
    "replace": (_replace, NUMBERED),
    "resize": (_resize, ("7", "8")),
    "move": (_move, ("1", "9", "12")),
    "vlan": (_vlan, ("8", "9")),
    "partition": (_partition, ("3", "10")),
    "mtu": (_mtu, ("8",)),
}
assert set(STAGES) == {*EVERY_RUN, *NUMBERED}
