# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a server's RDMA NICs: link, GIDs, counters, firmware. Read-only."""

from __future__ import annotations

import re
from typing import Any

from .._host.files import Files
from .._host.programs import Programs, Run, side_by_side
from .._plan.converge import DeviceError, Refused
from .._rnic.server import Link, links_from
from .survey import nics_of, rdma_devices_from

# Of the priority's own counters, those that tell whether its class is used and how often it was held up.
_PRIORITY_COUNTER = re.compile(r"^\s*((?:rx|tx)_prio(\d)_(?:bytes|packets|pause|discards)): (\d+)$", re.MULTILINE)
_PAUSE_COUNTER = re.compile(r"^\s*((?:rx|tx)_(?:pause_ctrl_phy|global_pause)): (\d+)$", re.MULTILINE)
_FIRMWARE = re.compile(r"^firmware-version: (\d+(?:\.\d+)+)", re.MULTILINE)
_UNUSED_GID = re.compile(r"[0:]+")
_VERSION = re.compile(r"\d+(\.\d+)+")


def version_from(text: str) -> tuple[int, ...]:
    """A firmware version as numbers that can be compared. Raises Refused: it is no version."""
    if not _VERSION.fullmatch(text):
        raise Refused(f"minimum_firmware: {text!r} is no version; write it like 16.26.1040")
    return tuple(int(number) for number in text.split("."))


def firmware_from(answer: str, minimum: str) -> dict[str, str | None]:
    """The firmware's version in the output of ``ethtool -i``, and whether that is enough: ok, older or unknown."""
    match = _FIRMWARE.search(answer)
    if not match:
        return {"version": None, "verdict": "unknown"}
    enough = version_from(match.group(1)) >= version_from(minimum)
    return {"version": match.group(1), "verdict": "ok" if enough else "older"}


def speed_verdict(speed: int | None, minimum: int) -> str:
    """Whether a link is fast enough: ok, slower, or unknown without a link."""
    if speed is None:
        return "unknown"
    return "ok" if speed >= minimum else "slower"


def counters_from(answer: str) -> dict[str, dict[str, Any]]:
    """Priority and pause counters in the output of ``ethtool -S``; what a driver does not count is left out."""
    priorities: dict[str, dict[str, int]] = {}
    for name, priority, value in _PRIORITY_COUNTER.findall(answer):
        priorities.setdefault(priority, {})[name.replace(f"_prio{priority}", "")] = int(value)
    return {"priorities": priorities, "pause": {name: int(value) for name, value in _PAUSE_COUNTER.findall(answer)}}


class Inspection:
    """One look at a server.

    Args:
        minimum_firmware: a version like ``16.26.1040``.
        minimum_speed: of a link, in Mbit/s.

    Raises Refused: the minimum is no version.
    """

    def __init__(self, run: Run, files: Files, minimum_firmware: str, minimum_speed: int = 0) -> None:
        version_from(minimum_firmware)
        self._programs = Programs(run)
        self._files = files
        self._minimum = minimum_firmware
        self._minimum_speed = minimum_speed

    def nics(self) -> list[dict[str, Any]]:
        """Every NIC of the server. Raises DeviceError: the server's links cannot be listed."""
        listing = self._ask("ip", "-details", "-json", "address", "show")
        if listing is None:
            raise DeviceError("ip -details -json address show failed; install iproute2 on this server")
        rdma = rdma_devices_from(self._ask("rdma", "-j", "link", "show"))
        return side_by_side(lambda link: self._nic(link, rdma.get(link.device)), nics_of(links_from(listing)))

    def _nic(self, link: Link, rdma: tuple[str, int] | None) -> dict[str, Any]:
        text = self._read(f"/sys/class/net/{link.device}/speed")
        # The kernel says -1 where there is no link.
        speed = int(text) if text and text.isdigit() else None
        return {
            "name": link.device,
            "mac": link.mac,
            "up": link.up,
            "carrier": self._read(f"/sys/class/net/{link.device}/carrier") == "1",
            "speed": speed,
            "speed_verdict": speed_verdict(speed, self._minimum_speed),
            "mtu": link.mtu,
            "addresses": list(link.addresses),
            "rdma_device": rdma[0] if rdma else None,
            "gids": self._gids(*rdma) if rdma else [],
            "counters": counters_from(self._ask("ethtool", "-S", link.device) or ""),
            "firmware": firmware_from(self._ask("ethtool", "-i", link.device) or "", self._minimum),
        }

    def _gids(self, device: str, port: int) -> list[dict[str, Any]]:
        """The GIDs in use, by index. Entries that are not in use are all zero and have no type."""
        folder = f"/sys/class/infiniband/{device}/ports/{port}"
        found = []
        for index in sorted(int(name) for name in self._files.names(f"{folder}/gids")):
            gid = self._read(f"{folder}/gids/{index}")
            if gid and not _UNUSED_GID.fullmatch(gid):
                kind = self._read(f"{folder}/gid_attrs/types/{index}")
                interface = self._read(f"{folder}/gid_attrs/ndevs/{index}")
                found.append({"index": index, "gid": gid, "type": kind, "interface": interface})
        return found

    def _ask(self, *argv: str) -> str | None:
        return self._programs.answer(list(argv))

    def _read(self, path: str) -> str | None:
        try:
            text = self._files.kernels(path).strip()
        except DeviceError:
            # The kernel refuses to read carrier and speed of a link that is down, and types of unused GIDs.
            return None
        return text or None
