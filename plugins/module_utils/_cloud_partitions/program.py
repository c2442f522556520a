# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program that a timer starts: it removes partitions of machines that are deleted."""

from __future__ import annotations

import sys
import syslog
import time
from dataclasses import dataclass
from typing import Callable, ContextManager, Mapping, Sequence

from .._host.files import Files
from .._plan.converge import DeviceError, Refused
from .._plan.steps import Fields
from .._text.line import one_line
from .._vipu.cli import Controller, NotDone
from .._vipu.connection import WAIT_TIMEOUT, configuration_of, run_program
from .._vipu.dialect import ADMIN, UNKNOWN
from .._vipu.entities import PARTITION
from .._vipu.lock import lock_of, only_writer
from .decision import Answers, Moment, Records, decide, is_to_be_asked, still_there
from .openstack import Cloud
from .records import Kept, RecordFile
from .settings import CREDENTIALS_PATH, PATH, Settings, Vpod, credentials_from, settings_from

DONE, FAILED = 0, 1
BOOT = "/proc/sys/kernel/random/boot_id"
# What changes in a partition without its being another one.
CHANGING = ("status", "errors")


def main(argv: Sequence[str], _environ: Mapping[str, str]) -> int:
    """Do one round. Returns the exit code."""
    syslog.openlog("ipu-pod-cloud-partitions", syslog.LOG_PID, syslog.LOG_DAEMON)
    if argv:
        sys.stderr.write("this is for a timer, and takes no argument\n")
        return 2
    try:
        settings = settings_from(_written(PATH))
        return Rounds(settings, _controller, _ask, _alone, log).round(_now())
    except (DeviceError, Refused) as error:
        log(str(error))
        return FAILED


def log(text: str) -> None:
    """One line for syslog, and for whoever looks."""
    line = one_line(text)
    syslog.syslog(line)
    sys.stderr.write(f"{line}\n")


@dataclass(frozen=True)
class Rounds:
    """What a timer runs each minute.

    Args:
        connect: the V-IPU controller of a vPOD.
        ask: what Nova says of the machines in a vPOD's project.
        alone: holds the lock of a vPOD's V-IPU controller.
        log: takes one readable line for each event.
    """

    settings: Settings
    connect: Callable[[Vpod], Controller]
    ask: Callable[[Vpod, Records], Answers]
    alone: Callable[[Vpod], ContextManager[None]]
    log: Callable[[str], None]

    def round(self, now: Moment) -> int:
        """Record new partitions, and remove those of deleted machines. Returns the exit code."""
        code, file = DONE, RecordFile(self.settings.state)
        with file.alone():
            earlier = file.read()
            kept = {vpod.name: earlier.get(vpod.name, {}) for vpod in self.settings.vpods}
            for vpod in self.settings.vpods:
                try:
                    self._look_after(vpod, kept, file, now)
                except (DeviceError, Refused) as error:
                    self.log(f"vPOD {vpod.name}: {error}")
                    code = FAILED
                file.write(kept)
        return code

    def _look_after(self, vpod: Vpod, kept: Kept, file: RecordFile, now: Moment) -> None:
        controller = self.connect(vpod)
        partitions = _partitions(controller, vpod)
        records = kept[vpod.name] = still_there(kept[vpod.name], partitions)
        if not is_to_be_asked(records, partitions):
            return
        try:
            answers = self.ask(vpod, records)
        except (DeviceError, Refused):
            kept[vpod.name] = decide(records, partitions, None, now, self.settings.wait).records
            raise
        decision = decide(records, partitions, answers, now, self.settings.wait)
        kept[vpod.name] = decision.records
        if decision.doubt:
            raise DeviceError(decision.doubt)
        if decision.removals:
            file.write(kept)
            self._remove(controller, vpod, decision.removals, kept[vpod.name])

    def _remove(self, controller: Controller, vpod: Vpod, names: Sequence[str], records: Records) -> None:
        """Remove partitions, which are looked at once more, and their records."""
        failures = []
        with self.alone(vpod):
            there = still_there(records, _partitions(controller, vpod))
            for name in names:
                try:
                    if name in there:
                        _remove_partition(controller, name)
                        self.log(f"vPOD {vpod.name}: removed partition {name} of deleted machine {there[name].machine}")
                    del records[name]
                except DeviceError as error:
                    failures.append(str(error))
        if failures:
            raise DeviceError("; ".join(failures))


def _partitions(controller: Controller, vpod: Vpod) -> dict[str, Fields]:
    """The partitions in the vPOD's allocation that its tenant has made, with how they were made."""
    return {
        name: {field: value for field, value in fields.items() if field not in CHANGING}
        for name, fields in controller.read((PARTITION,))[PARTITION].items()
        if fields["allocation"] == vpod.allocation and name not in vpod.declared
    }


def _remove_partition(controller: Controller, name: str) -> None:
    """Whatever its agents say: nothing runs there any more. That it has gone meanwhile is no error."""
    try:
        controller.remove_partition_by_force(name)
    except NotDone as error:
        if error.reason != UNKNOWN:
            raise


def _written(path: str) -> str:
    file = Files().read(path)
    if file is None:
        raise Refused(f"{path} is not there; run the role cloud_partitions, which writes it")
    return file.content


def _controller(vpod: Vpod) -> Controller:
    def run(argv: list[str]) -> tuple[int, str, str]:
        return run_program(argv, WAIT_TIMEOUT, "/", {})

    options = configuration_of({"config": vpod.vipu_config or None, "api_user_id": ""}, ADMIN)
    return Controller(run, ADMIN, "localhost", vpod.admin_port, options)


def _ask(vpod: Vpod, records: Records) -> Answers:
    credentials = credentials_from(_written(CREDENTIALS_PATH), vpod.cloud)
    return Cloud(vpod.cloud, credentials).ask(vpod.project, vpod.domain, records)


def _alone(vpod: Vpod) -> ContextManager[None]:
    return only_writer(lock_of(vpod.admin_port), "removing partitions of deleted machines")


def _now() -> Moment:
    return Moment(Files().kernels(BOOT).strip(), time.clock_gettime(time.CLOCK_BOOTTIME))
