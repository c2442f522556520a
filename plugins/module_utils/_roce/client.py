# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The client: asks a server's tools about its RDMA NICs, and changes one interface at a time or not at all."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import Mapping, Sequence

from .._host.files import File, Files
from .._host.programs import Programs, Run, side_by_side
from .._plan.converge import DeviceError, Refused
from .._plan.steps import Step
from .._rnic.declared import Interface
from .._rnic.server import Server, default_devices_of, links_of, management
from .._rnic.uses import Uses, rdma_uses
from . import boot
from .declared import RoceInterface
from .inbox import Inbox
from .ofed import Ofed
from .plan import commands_between, devices_on, nic_of
from .settings import NAMES, Settings
from .survey import Survey, Surveyed, nics_of, rdma_devices_from
from .tool_sets import Call, Command, Nic, Read, ToolSet

TOOL_SETS: Mapping[str, ToolSet] = {"ofed": Ofed(), "inbox": Inbox()}
_VERSION_OF = {"ofed": ["mlnx_qos", "--version"], "inbox": ["dcb", "-V"]}
TOOLS_WANTED = "install MLNX_OFED, or for inbox drivers iproute2 5.11 or later"
# How programs and the kernel say that a driver has no such setting.
_NOT_THERE = ("not supported", "does not support", "does not exist", "No such file or directory", "not permitted")


class RoceClient:
    """One server.

    Args:
        ssh_addresses: the server's end of the SSH connections in use.
        pci: the PCI address per network device that has one.
        tools: ``ofed``, ``inbox``, or ``auto`` for the first of them that is installed.
        rdma_devices: the RDMA devices that the kernel has.
    """

    def __init__(
        self,
        run: Run,
        files: Files,
        ssh_addresses: frozenset[str] = frozenset(),
        pci: Mapping[str, str] = MappingProxyType({}),
        tools: str = "auto",
        rdma_devices: Sequence[str] = (),
    ) -> None:
        self._programs = Programs(run)
        self._files = files
        self._ssh_addresses = ssh_addresses
        self._pci = pci
        self._rdma_devices_there = rdma_devices
        self.tools = self._found_tools(tools)

    def survey(self, interfaces: Sequence[RoceInterface]) -> Survey:
        """The links of the server, and all about the given interfaces.

        Raises:
            Refused: one of them is not there, or is what the server is managed through.
            DeviceError: a tool failed, or its answer could not be read.
        """
        seen = self._links()
        devices = devices_on(seen, interfaces)
        rdma = self._rdma_devices()

        def surveyed(name: str) -> Surveyed:
            return self._surveyed(name, _nic(devices[name], rdma))

        return Survey(self.tools, seen.links, dict(zip(devices, side_by_side(surveyed, devices))))

    def survey_all(self) -> Survey:
        """Every NIC that may be declared."""
        seen = self._links()
        reserved = management(seen)
        free = [nic for nic in nics_of(seen.links) if nic.device not in reserved and not nic.master and nic.mac]
        return self.survey([RoceInterface(Interface(nic.device)) for nic in free])

    def uses(self) -> Uses:
        """Who has RDMA queue pairs right now. Raises DeviceError: a tool's answer could not be read."""
        return rdma_uses(self._programs, self._rdma_devices_there)

    def carry_out(self, step: Step) -> None:
        """Change one interface and its boot files. Raises DeviceError: what failed, and if the old ones are back."""
        before, wanted = step.before or {}, step.after or {}
        nic = nic_of(before)
        try:
            for command in commands_between(self.tools, nic, before, wanted):
                self._do(command)
        except DeviceError as error:
            raise DeviceError(f"interface {step.name}: {error}; {self._put_back(nic, before)}") from error
        if wanted["script"] is not None:
            self._write(boot.script_path(step.name), File(_text(wanted["script"]), mode="0755"))
            self._write(boot.unit_path(step.name), File(_text(wanted["unit"])))
            self._programs.call(["systemctl", "daemon-reload"])
            self._programs.call(["systemctl", "reenable", boot.unit_name(step.name)])

    def _write(self, path: str, file: File) -> None:
        """Write a file of ours; what a reset in the middle of writing it has left goes."""
        for left, wanted in self._files.unfinished(os.path.dirname(path)).items():
            if wanted == path:
                self._files.remove(left)
        self._files.write(path, file)

    def _put_back(self, nic: Nic, before: Settings) -> str:
        """Restore the running settings; the report of it as a part of a sentence."""
        try:
            for command in commands_between(self.tools, nic, self._running(nic), before):
                self._do(command)
        except (DeviceError, Refused) as error:
            return f"the old settings could not be put back: {error}"
        return "the old settings are back"

    def _found_tools(self, wanted: str) -> ToolSet:
        candidates = list(TOOL_SETS) if wanted == "auto" else [wanted]
        for name in candidates:
            try:
                status = self._programs.attempt(_VERSION_OF[name])[0]
            except DeviceError:
                continue
            if status == 0:
                return TOOL_SETS[name]
        programs = " nor ".join(_VERSION_OF[name][0] for name in candidates)
        raise Refused(f"this server has {'neither ' if len(candidates) > 1 else 'no '}{programs}; {TOOLS_WANTED}")

    def _links(self) -> Server:
        links, devices = links_of(self._programs), default_devices_of(self._programs)
        return Server(links, devices, self._ssh_addresses, pci=self._pci)

    def _rdma_devices(self) -> dict[str, tuple[str, int]]:
        # Without RDMA drivers it fails, which is an answer, too.
        return rdma_devices_from(self._programs.answer(["rdma", "-j", "link", "show"]))

    def _surveyed(self, name: str, nic: Nic) -> Surveyed:
        script, unit = (self._files.read(path) for path in (boot.script_path(name), boot.unit_path(name)))
        return Surveyed(
            nic=nic,
            running=self._running(nic),
            script=script.content if script else None,
            unit=unit.content if unit else None,
            starts=boot.unit_name(name) in self._files.names(boot.wants_directory(nic)),
        )

    def _running(self, nic: Nic) -> Settings:
        answers = {what: self._answer(question) for what, question in self.tools.questions(nic).items()}
        settings = self.tools.settings(nic, answers)
        return {name: settings[name] for name in NAMES}

    def _answer(self, question: Call | Read) -> str | None:
        """Return the output; None if driver or tools do not support the question."""
        if isinstance(question, Read):
            file = self._files.read(question.path)
            return file.content if file else None
        try:
            status, output, errors = self._programs.attempt(list(question.argv))
        except DeviceError:
            return None
        if status == 0:
            return output
        answer = " ".join(f"{output} {errors}".split())
        if any(phrase in answer for phrase in _NOT_THERE):
            return None
        raise DeviceError(f"{' '.join(question.argv)}: {answer or f'exit status {status}'}")

    def _do(self, command: Command) -> None:
        if isinstance(command, Call):
            self._programs.call(list(command.argv))
        else:
            self._files.poke(command.path, command.text)


def _nic(device: str, rdma: Mapping[str, tuple[str, int]]) -> Nic:
    return Nic(device, *rdma[device]) if device in rdma else Nic(device)


def _text(lines: Sequence[str]) -> str:
    return "".join(line + "\n" for line in lines)
