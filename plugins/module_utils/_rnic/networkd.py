# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The systemd-networkd back end: surveys a server, and changes one interface at a time or not at all."""

from __future__ import annotations

import time
from typing import Any, Callable, List, Mapping, Sequence, Tuple

from .._host.files import File, Files
from .._plan.converge import DeviceError, Refused
from .._plan.steps import Fields, Step
from . import network_file
from .declared import Interface
from .server import Link, Server, default_devices_from, links_from, network_files_from

Run = Callable[[List[str]], Tuple[int, str, str]]

_WAIT_ONLINE = "/lib/systemd/systemd-networkd-wait-online"
_USED_FILE = "network_file"
_SETTINGS = ("up", "mtu", "addresses")


class Networkd:
    """One server whose interfaces systemd-networkd configures.

    Args:
        run: runs a program and returns exit status, output and errors; OSError where it does not exist.
        files: the server's files.
        ssh_addresses: the server's end of the SSH connections in use.
        may_be_stopped: take a networkd that is not running as one that uses no file yet, instead of refusing.
        timeout: seconds within which networkd has to configure an interface.
        clock: seconds that only grow.
        pause: waits that many seconds.
    """

    def __init__(
        self,
        run: Run,
        files: Files,
        ssh_addresses: frozenset[str] = frozenset(),
        may_be_stopped: bool = False,
        timeout: int = 30,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._run = run
        self._files = files
        self._ssh_addresses = ssh_addresses
        self._may_be_stopped = may_be_stopped
        self._timeout = timeout
        self._clock = clock
        self._pause = pause

    def survey(self, interfaces: Sequence[Interface]) -> Server:
        """All links of the server, and the files of the given interfaces.

        Raises:
            Refused: networkd is not running.
            DeviceError: a tool failed, or its answer could not be read.
        """
        running = self._attempt(["systemctl", "is-active", "--quiet", "systemd-networkd"])[0] == 0
        if not running and not self._may_be_stopped:
            raise Refused(
                "systemd-networkd is not running on this server; start it with `systemctl enable --now "
                "systemd-networkd` after making sure that no file of it matches the management interface"
            )
        links = links_from(self._call(["ip", "-details", "-json", "address", "show"]))
        routes = [self._call(["ip", version, "-json", "route", "show", "default"]) for version in ("-4", "-6")]
        devices = [link.device for link in links.values() if running and _may_be_one_of(link, interfaces)]
        paths = [network_file.path_of(interface.name) for interface in interfaces]
        files = {path: file.content for path, file in ((path, self._files.read(path)) for path in paths) if file}
        return Server(
            links=links,
            default_devices=frozenset().union(*(default_devices_from(route) for route in routes)),
            ssh_addresses=self._ssh_addresses,
            network_files=network_files_from(self._call(["networkctl", "status", *devices])) if devices else {},
            files=files,
        )

    def carry_out(self, step: Step) -> None:
        """Change one interface and wait until it is as wanted; on failure put everything back as it was.

        Raises:
            DeviceError: what went wrong, and whether the old settings are back.
        """
        before, wanted = step.before or {}, step.after or {}
        path = network_file.path_of(step.name)
        old_file = self._files.read(path)
        try:
            if wanted["file"] == before["file"]:
                self._load(wanted["device"])
            else:
                self._files.write(path, File(network_file.render(wanted["file"])))
                self._load()
            self._wait_until(wanted, (_USED_FILE, *_SETTINGS))
        except DeviceError as error:
            raise DeviceError(f"interface {step.name}: {error}; {self._put_back(path, old_file, before)}") from error

    def _load(self, device: str | None = None) -> None:
        """Have networkd read its files and configure what a new or changed one matches, or else the given device.

        A device with a changed file keeps the addresses that it had and has; ``reconfigure`` takes them all away first.
        """
        self._call(["networkctl", "reload"])
        if device:
            self._call(["networkctl", "reconfigure", device])

    def _put_back(self, path: str, old_file: File | None, before: Fields) -> str:
        """Restore the file and the running settings; the report of it as a part of a sentence."""
        device = before["device"]
        try:
            self._files.put(path, old_file)
            self._load()
            if before[_USED_FILE]:
                # So that networkd does not undo the repair. It has no need to succeed: the repair is what counts.
                self._attempt([_WAIT_ONLINE, "--interface", f"{device}:no-carrier", "--timeout", str(self._timeout)])
            self._repair(before)
            self._wait_until(before, _SETTINGS)
        except DeviceError as error:
            return f"the old settings could not be put back: {error}"
        return "the old settings are back"

    def _repair(self, before: Fields) -> None:
        """Set what networkd leaves behind where it has no file any more, or what was not from its file before."""
        device, now = before["device"], self._running(before["device"])
        if now["mtu"] != before["mtu"]:
            self._call(["ip", "link", "set", "dev", device, "mtu", str(before["mtu"])])
        for address in now["addresses"]:
            if address not in before["addresses"]:
                self._call(["ip", "address", "del", address, "dev", device])
        for address in before["addresses"]:
            if address not in now["addresses"]:
                self._call(["ip", "address", "add", address, "dev", device])
        if now["up"] != before["up"]:
            self._call(["ip", "link", "set", "dev", device, "up" if before["up"] else "down"])

    def _wait_until(self, wanted: Mapping[str, Any], fields: Sequence[str]) -> None:
        """Wait until the device shows the wanted fields.

        networkctl returns before networkd has begun, and networkd's "configured" is then still the old state's, or with
        an IPv6 address and no carrier never comes. So what the kernel shows decides.
        """
        deadline = self._clock() + self._timeout
        while True:
            now = self._running(wanted["device"])
            wrong = [field for field in fields if now[field] != wanted[field]]
            if not wrong:
                return
            if self._clock() >= deadline:
                field = wrong[0]
                raise DeviceError(f"after {self._timeout} s its {field} is {now[field]!r}, not {wanted[field]!r}")
            self._pause(0.1)

    def _running(self, device: str) -> Fields:
        link = links_from(self._call(["ip", "-details", "-json", "address", "show", "dev", device]))[device]
        used = network_files_from(self._call(["networkctl", "status", device])).get(device)
        return {"up": link.up, "mtu": link.mtu, "addresses": list(link.addresses), _USED_FILE: used}

    def _call(self, argv: list[str]) -> str:
        status, output, errors = self._attempt(argv)
        if status != 0:
            raise DeviceError(f"{' '.join(argv)}: {' '.join((errors or output).split()) or f'exit status {status}'}")
        return output

    def _attempt(self, argv: list[str]) -> tuple[int, str, str]:
        try:
            return self._run(argv)
        except OSError as error:
            raise DeviceError(f"{argv[0]} could not be run on this server: {error.strerror}") from error


def _may_be_one_of(link: Link, interfaces: Sequence[Interface]) -> bool:
    return any(link.mac == interface.mac or link.device == interface.name for interface in interfaces)
