# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The virtual functions by which containers of several vPODs are kept apart on one server."""

from __future__ import annotations

from dataclasses import dataclass, field

from .._host.programs import Programs, run_program
from .._plan.converge import Refused
from .._rnic.server import links_of
from .._rnic.sysfs import Sysfs
from .engine import Engine
from .settings import Function

_VERBS = "/dev/infiniband"
_REMEDY = "run playbooks/poplar_servers.yml, which sets all functions"


@dataclass(frozen=True)
class Opened:
    """A function that a container can have: its MAC address, the only one that the NIC takes, and its RDMA devices."""

    mac: str = ""
    devices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Functions:
    """The virtual functions of this server's RNICs."""

    programs: Programs = field(default_factory=lambda: Programs(run_program))
    sysfs: Sysfs = field(default_factory=Sysfs)

    def open(self, function: Function, network: str, engine: Engine) -> Opened:
        """Switch a function on for the container that is to have it.

        Raises:
            Refused: it is not there, the NIC does not keep it in its VLAN, or the engine's network is elsewhere.
            DeviceError: it cannot be switched on.
        """
        found = next((each for each in self.sysfs.functions(function.rnic) if each.index == function.number), None)
        if found is None or not found.devices:
            raise Refused(
                f"{function} {'is not there' if found is None else 'has no network device on this server'}; {_REMEDY}"
            )
        mac = self._checked_mac(function)
        if not mac:
            raise Refused(
                f"the NIC does not keep {function} in VLAN {function.vlan}, or does not check its MAC address; "
                f"{_REMEDY}"
            )
        device = found.devices[0]
        parent = engine.parent_of(network)
        if parent != device:
            raise Refused(
                f"network {network} of {engine.name} is on {parent}, and {function} is {device}; run vpods.yml, which "
                "makes it again"
            )
        # The server itself says nothing in the vPOD's VLAN, neither by IPv6 nor as an answer to ARP. And a device that
        # was there before its function got its MAC address may have another one.
        silent = ("addrgenmode", "none", "arp", "off")
        mtu = self.sysfs.mtu(function.rnic)
        self.programs.call(["ip", "link", "set", "dev", device, "address", mac, "mtu", mtu, *silent, "up"])
        return Opened(mac, tuple(f"{_VERBS}/{name}" for name in found.verbs))

    def _checked_mac(self, function: Function) -> str:
        """Its MAC address by the NIC, which checks it, and keeps the function in its VLAN; empty where it does not."""
        link = links_of(self.programs).get(function.rnic)
        for each in link.virtual_functions if link else ():
            if (each["index"], each["vlan"], each["spoof_check"]) == (function.number, function.vlan, True):
                return str(each["mac"])
        return ""
