# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One server: looks at its interfaces, and makes them what a plan says. Decides nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Mapping, Sequence

from .._host.files import File, Files, NotPlain
from .._host.programs import Programs
from .._plan.converge import Refused
from .._plan.steps import Step
from . import netplan, virtual_functions
from .backends import BACKENDS, claim_of
from .declared import Interface
from .profile import Backend
from .server import Link, Server, default_devices_of, links_of, network_files_from, profile_files_from, unmanaged_from
from .sysfs import Sysfs
from .uses import Mount, UsedFunction, Uses, mounts_from, rdma_uses, route_device_from

_NETPLAN_DIRECTORIES = (netplan.DIRECTORY, "/run/netplan", "/lib/netplan")
_MOUNTS = "/proc/self/mounts"
_REHEARSAL = "/run/ipu-rnic-rehearsal"
# systemd-networkd writes a file here, named by a link's number, whenever it has configured that link.
_CONFIGURED = "/run/systemd/netif/links"


class Client:
    """The interfaces of one server; ``ssh_addresses`` is its end of the SSH connections in use."""

    def __init__(self, programs: Programs, files: Files, sysfs: Sysfs, ssh_addresses: frozenset[str]) -> None:
        self._programs = programs
        self._files = files
        self._sysfs = sysfs
        self._ssh_addresses = ssh_addresses

    def survey(self, interfaces: Sequence[Interface] | None = None) -> Server:
        """All links, who configures the declared ones (or, if None, each), and every file with a name of ours."""
        links = links_of(self._programs)
        pci = self._sysfs.pci_addresses()
        services = self._services()
        devices = [
            link.device for link in links.values() if interfaces is None or _may_be_one_of(link, interfaces, pci)
        ]
        claims: dict[str, dict[str, str]] = {device: {} for device in devices}
        if "networkd" in services and devices:
            for device, file in network_files_from(self._programs.call(["networkctl", "status", *devices])).items():
                claims[device][claim_of(file)] = file
        if "networkmanager" in services and devices:
            for device, file in self._profile_files(devices).items():
                claims[device]["netplan" if "/netplan-" in file else "networkmanager"] = file
        files = self._texts()
        used = {path for by_backend in claims.values() for path in by_backend.values()}
        return Server(
            links=links,
            default_devices=default_devices_of(self._programs),
            ssh_addresses=self._ssh_addresses,
            services=frozenset(services),
            claims=claims,
            files=files,
            used_texts={path: text for each in used - set(files) for path, text in self._text_of_others(each).items()},
            pci=pci,
            max_virtual_functions=self._sysfs.max_virtual_functions(),
        )

    def uses(self, links: Sequence[str]) -> Uses:
        """Return the current uses of the server's interfaces; ``links`` are those whose virtual functions matter."""
        return replace(
            rdma_uses(self._programs, self._sysfs.rdma_devices()),
            mounts=[(mount, self._way_to(mount)) for mount in mounts_from(self._files.kernels(_MOUNTS))],
            functions=[used for device in links for used in self._used_functions(device)],
        )

    def rehearse(self, backend: Backend, steps: Sequence[Step], server: Server) -> None:
        """Check, before any change, that no unapplied change of others would take effect with ours.

        Raises Refused: netplan does not take the files, or something of others would change with it.
        """
        if backend.name != "networkmanager" and "networkd" in server.services:
            for problem in self.unloaded(server):
                raise Refused(problem)
        if backend.name == "netplan":
            self._rehearse_netplan(backend, steps, server)

    def unloaded(self, server: Server) -> list[str]:
        """Where a file of others has changed since networkd configured a link from it, one sentence each."""
        problems = []
        for device, path in network_files_from(self._programs.call(["networkctl", "status", *server.links])).items():
            if BACKENDS["networkd"].interface_of(path) or netplan.generated_for(path):
                continue
            written = self._files.modified(path)
            configured = self._files.modified(f"{_CONFIGURED}/{server.links[device].index}")
            if configured is not None and (written is None or written > configured):
                problems.append(
                    f"systemd-networkd would also change {device}: somebody edited {path} and did not have it loaded; "
                    "load it with `networkctl reload` or take it back first"
                )
        return problems

    def _rehearse_netplan(self, backend: Backend, steps: Sequence[Step], server: Server) -> None:
        """Have netplan generate everything in a folder of its own, and compare that with what is there."""
        try:
            texts = _texts_after(steps, server)
            for path, text in texts.items():
                self._files.write(_REHEARSAL + path, File(text, mode=backend.mode))
            status, output, errors = self._programs.attempt(["netplan", "generate", "--root-dir", _REHEARSAL])
            if status != 0:
                words = " ".join((errors or output).replace(_REHEARSAL, "").split())
                raise Refused(f"netplan would not take its files any more: {words}")
            ours = {backend.interface_of(path) for path in {*texts, *server.files}}
            now, then = self._generated("", ours), self._generated(_REHEARSAL, ours)
        finally:
            self._programs.call(["rm", "-rf", _REHEARSAL])
        changed = sorted(path for path in {*now, *then} if now.get(path) != then.get(path))
        if changed:
            raise Refused(
                f"netplan would also change {', '.join(changed)}: somebody edited netplan's files and did not apply "
                "that; apply it or take it back first"
            )

    def carry_out(self, backend: Backend, steps: Sequence[Step]) -> None:
        """Write the files of all steps and have the back end load them. It goes on after this returns."""
        for step in steps:
            self._write_files(step, backend)
        loaded = [step for step in steps if _altered(step) is None]
        for command in backend.prepare() if loaded else []:
            self._programs.call(command)
        for step in steps:
            for command in _function_commands(step):
                self._programs.call(command)
        for command in backend.load(loaded) if loaded else []:
            self._programs.call(command)

    def _services(self) -> set[str]:
        units = {"systemd-networkd": "networkd", "NetworkManager": "networkmanager"}
        states = self._programs.attempt(["systemctl", "is-active", *units])[1].split()
        running = {name for name, state in zip(units.values(), states) if state == "active"}
        has_netplan = any(
            name.endswith(".yaml") for folder in _NETPLAN_DIRECTORIES for name in self._files.names(folder)
        )
        return running | ({"netplan"} if has_netplan else set())

    def _profile_files(self, devices: Sequence[str]) -> dict[str, str]:
        nmcli = ["nmcli", "--terse", "--escape", "no", "--fields"]
        unmanaged = unmanaged_from(self._programs.call([*nmcli, "DEVICE,STATE", "device", "status"]))
        active = [*nmcli, "DEVICE,FILENAME", "connection", "show", "--active"]
        files = profile_files_from(self._programs.call(active))
        return {device: file for device, file in files.items() if device in devices and device not in unmanaged}

    def _texts(self) -> dict[str, str]:
        """Every file with a name of ours, and netplan's others, which netplan merges with ours."""
        texts: dict[str, str] = {}
        for backend in BACKENDS.values():
            for directory in backend.directories(self._files.names):
                paths = [f"{directory}/{name}" for name in self._files.names(directory)]
                for path in filter(backend.interface_of, paths):
                    texts.update(self._text(path))
        enabled = self._files.names(virtual_functions.WANTS_DIRECTORY)
        for name in self._files.names(virtual_functions.DIRECTORY):
            path = f"{virtual_functions.DIRECTORY}/{name}"
            if virtual_functions.interface_of(path) and name in enabled:
                texts.update(self._text(path))
        for directory in _NETPLAN_DIRECTORIES:
            for name in self._files.names(directory):
                path = f"{directory}/{name}"
                if name.endswith(".yaml") and path not in texts:
                    texts.update(self._text_of_others(path))
        return texts

    def _text(self, path: str) -> dict[str, str]:
        file = self._files.read(path)
        return {path: file.content} if file else {}

    def _text_of_others(self, path: str) -> dict[str, str]:
        try:
            return self._text(path)
        except NotPlain:
            return {}

    def _generated(self, root: str, ours: set[str | None]) -> dict[str, str]:
        """Return netplan's generated files for interfaces that are not ours, by path without the root."""
        paths = [f"{netplan.GENERATED}/{name}" for name in self._files.names(root + netplan.GENERATED)]
        others = [path for path in paths if netplan.generated_for(path) not in {None, *ours}]
        return {path: text for path in others for text in self._text(root + path).values()}

    def _write_files(self, step: Step, backend: Backend) -> None:
        before, wanted = (step.before or {}).get("files", {}), (step.after or {}).get("files", {})
        for path in sorted(set(before) - set(wanted)):
            self._files.remove(path)
        is_loaded = _altered(step) is None
        for path, text in wanted.items():
            if not is_loaded and virtual_functions.interface_of(path) is None:
                continue
            # Also where the text is the same: a new file makes networkd look at the running settings again.
            self._files.write(path, File(text, mode="0644" if virtual_functions.interface_of(path) else backend.mode))

    def _way_to(self, mount: Mount) -> str | None:
        if mount.address is None:
            return None
        return route_device_from(self._programs.answer(["ip", "-json", "route", "get", mount.address]) or "")

    def _used_functions(self, device: str) -> list[UsedFunction]:
        functions = self._sysfs.functions(device)
        addressed = self._addressed({name for function in functions for name in function.devices})
        used = []
        for function in functions:
            if function.driver == "vfio-pci":
                used.append(UsedFunction(device, function.index, f"{function.pci}, given to a virtual machine"))
            elif function.driver and not function.devices:
                used.append(UsedFunction(device, function.index, f"{function.pci}, in another network namespace"))
            used += [UsedFunction(device, function.index, how) for how in map(addressed.get, function.devices) if how]
        return used

    def _addressed(self, devices: set[str]) -> dict[str, str]:
        if not devices:
            return {}
        links = links_of(self._programs)
        return {
            name: f"{name} has {links[name].addresses[0]}"
            for name in devices
            if name in links and links[name].addresses
        }


def _may_be_one_of(link: Link, interfaces: Sequence[Interface], pci: dict[str, str]) -> bool:
    return any(
        link.device == interface.name
        or (interface.mac is not None and link.mac == interface.mac)
        or (interface.pci is not None and pci.get(link.device) == interface.pci)
        for interface in interfaces
    )


def _texts_after(steps: Sequence[Step], server: Server) -> dict[str, str]:
    """All of netplan's files as they will be."""
    texts = dict(server.files)
    for step in steps:
        for path in (step.before or {}).get("files", {}):
            texts.pop(path, None)
        texts.update((step.after or {}).get("files", {}))
    return {path: text for path, text in texts.items() if path.endswith(".yaml")}


def _altered(step: Step) -> list[Mapping[str, Any]] | None:
    return virtual_functions.altered(step.before or {}, step.after or {})


def _function_commands(step: Step) -> list[list[str]]:
    before, wanted = step.before or {}, step.after or {}
    path, unit = virtual_functions.unit_path(step.name), virtual_functions.unit_of(step.name)
    if path in wanted.get("files", {}):
        altered = _altered(step)
        # The unit would give all of them their settings again, also those in use.
        restart = [["systemctl", "restart", unit]]
        settings = restart if altered is None else virtual_functions.setting_commands(wanted["device"], altered)
        return [["systemctl", "daemon-reload"], ["systemctl", "enable", "--quiet", unit], *settings]
    if path in before.get("files", {}) or before.get("virtual_functions"):
        link = f"{virtual_functions.WANTS_DIRECTORY}/{unit}"
        none = virtual_functions.commands(wanted.get("device", ""), [])
        return [["rm", "-f", link], ["systemctl", "daemon-reload"], *none]
    return []
