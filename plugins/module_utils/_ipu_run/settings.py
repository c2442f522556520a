# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of ipu-run, a file that the role containers writes: the vPODs whose IPUs containers can have. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any, Sequence

from .._plan.converge import Refused

PATH = "/etc/ipu-pod/containers.json"
# Where ipu-run is on every server.
PROGRAM = "/usr/local/bin/ipu-run"
_REMEDY = "run the role containers again, which writes this file"


@dataclass(frozen=True)
class Function:
    """A virtual function of an RNIC, and the VLAN that the NIC keeps it in.

    It is known by its number, as a restart of the server may change which devices it is.
    """

    rnic: str
    number: int
    vlan: int

    def __str__(self) -> str:
        return f"virtual function {self.number} of {self.rnic}"


@dataclass(frozen=True)
class Vpod:
    """A vPOD that this server belongs to.

    Args:
        ipus: how many IPUs it has.
        allocation: its V-IPU allocation.
        network: the network of its containers, in each engine of this server.
        group: the group whose users may start containers by ``sudo``; empty if only root may.
        api_host: name or address of its V-IPU controller; ``api_port`` is the TCP port for users.
        vipu_config: the configuration file of ``vipu`` for it.
        devices: the RDMA devices that reach its VLAN and no other, such as ``/dev/infiniband``.
        function: where the server has several vPODs, the only way of this one's containers into its VLAN.
    """

    name: str
    ipus: int
    allocation: str
    network: str
    group: str
    api_host: str
    api_port: int
    vipu_config: str
    devices: tuple[str, ...]
    function: Function | None = None


@dataclass(frozen=True)
class Settings:
    """The settings; ``state`` is the directory of the registry."""

    state: str
    vpods: tuple[Vpod, ...]

    def vpod(self, name: str, groups: Sequence[str] | None) -> Vpod:
        """The vPOD that is asked for by name, or the only one; ``groups`` are those of a user who is not root.

        Raises:
            Refused: there is no such vPOD here, it is not said which, or the user may not have it.
        """
        allowed = [vpod for vpod in self.vpods if groups is None or (vpod.group and vpod.group in groups)]
        found = [vpod for vpod in allowed if name in ("", vpod.name)]
        if len(found) == 1:
            return found[0]
        if found:
            raise Refused(f"this server has vPODs {_listed(found)}; say which one with --vpod")
        if not self.vpods:
            raise Refused("no vPOD of this server has containers; declare vpods.NAME.containers, and run vpods.yml")
        asked = [vpod for vpod in self.vpods if name in ("", vpod.name)]
        if not asked:
            raise Refused(f"this server has no vPOD {name}; use {_listed(self.vpods)}")
        ways = [f"be a member of {vpod.group}" if vpod.group else "be root" for vpod in asked]
        raise Refused(f"you may have no IPUs of vPOD {_listed(asked)}; {' or '.join(dict.fromkeys(ways))}")


def settings_from(text: str) -> Settings:
    """The settings in their file. Raises Refused: it is not what the role writes."""
    try:
        data = _known(Settings, json.loads(text))
        return Settings(data["state"], tuple(_vpod(_known(Vpod, vpod)) for vpod in data["vpods"]))
    except (ValueError, TypeError) as error:
        raise Refused(f"{PATH}: {error}; {_REMEDY}") from None


def _vpod(data: dict[str, Any]) -> Vpod:
    function = data["function"] and Function(**_known(Function, data["function"]))
    return Vpod(**{**data, "devices": tuple(data["devices"]), "function": function})


def _listed(vpods: Sequence[Vpod]) -> str:
    return ", ".join(vpod.name for vpod in vpods)


def _known(kind: Any, data: Any) -> dict[str, Any]:
    """The data, which have exactly the fields of a kind."""
    wanted = {known.name for known in fields(kind)}
    if not isinstance(data, dict) or set(data) != wanted:
        raise ValueError(f"this is not a JSON object with {', '.join(sorted(wanted))}")
    return data
