# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prolog and Epilog: the hooks on a node.

The node decides nothing. It carries out the note that the Slurm controller has written, and leaves a file for the SPANK
plugin, which puts it into the environment of the job's tasks.
"""

from __future__ import annotations

import grp
import json
import os
import pwd
from dataclasses import dataclass
from typing import Callable, Iterator, Sequence

from .._host.files import File, Files
from .._plan.converge import DeviceError
from .._vipu.cli import Controller
from .._vipu.dialect import TLS_FILES
from .job import Job
from .note import ACCESS, ALLOCATION, GCDS, IPUS, PARTITION, PARTITIONS, number
from .settings import FILE, DeclaredPartition, Settings
from .slurm import Slurm

# What the file says where the job shall not start.
REFUSED = "refused"
# What stands for the number of the task's GCD.
GCD = "%g"

Log = Callable[[str], None]
# The V-IPU controller for a job, by a configuration file of `vipu`.
Connect = Callable[[str], Controller]


@dataclass(frozen=True)
class Node:
    """One node, by the name that Slurm has for it."""

    settings: Settings
    name: str
    slurm: Slurm
    connect: Connect
    files: Files
    log: Log

    def prolog(self, job_number: int) -> None:
        """Put in place what the job needs here. A job that cannot have it goes back; the node is not at fault."""
        self.epilog(job_number)
        job: Job | None = None
        try:
            job = self.slurm.job(job_number)
            lines = self._lines(job) if job else []
        except DeviceError as why:
            self.log(f"job {job_number} does not start here: {why}")
            lines = [REFUSED]
        if lines:
            self.files.write(self._environment(job_number), File("\n".join(lines) + "\n"))
        if job and lines == [REFUSED]:
            self._put_back(job)

    def epilog(self, job_number: int) -> None:
        """Remove what the prolog has put there."""
        self.files.remove(self._environment(job_number))
        self.files.remove_directory(self._directory(job_number))

    def _put_back(self, job: Job) -> None:
        try:
            self.slurm.put_back(job)
        except DeviceError as error:
            # Its tasks end at once, since the file says so.
            self.log(f"job {job.id}: {error}")

    def _lines(self, job: Job) -> list[str]:
        """The lines of the file for the SPANK plugin; none for a job without IPUs."""
        note = job.note
        if PARTITION not in note and ALLOCATION not in note:
            if job.ipus:
                raise DeviceError("the Slurm controller has given it no IPUs")
            return []
        directory = self._directory(job.id)
        config = self.settings.node_vipu_config
        partitions = self._partitions(job)
        gcds = partitions[0].gcds if partitions else 1
        lines = [f"gcds={gcds}", f"IPU_POD_IPUS={note[IPUS]}"]
        if ALLOCATION in note:
            lines.append(f"IPU_POD_ALLOCATION={note[ALLOCATION]}")
        if partitions:
            lines.append(f"IPU_POD_PARTITION={partitions[0].name}")
        if len(partitions) > 1:
            lines.append(f"IPU_POD_PARTITIONS={','.join(partition.name for partition in partitions)}")
        if ACCESS in note:
            config = f"{directory}/vipu.hcl"
            self._write_user(job, directory)
            lines.append(f"IPU_POD_VIPU_CONFIG={config}")
        if self.settings.hand_over == FILE:
            self._write_configurations(job, partitions, self.connect(config), directory)
        return [*lines, *self._way_to_ipus(partitions, directory)]

    def _way_to_ipus(self, partitions: Sequence[DeclaredPartition], directory: str) -> Iterator[str]:
        """Return the environment or files for Poplar."""
        if not partitions:
            return
        if self.settings.hand_over == FILE:
            yield f"IPUOF_CONFIG_PATH={directory}/{configuration_name(partitions[0].name, GCD)}"
            return
        yield f"IPUOF_VIPU_API_HOST={self.settings.api_host}"
        yield f"IPUOF_VIPU_API_PORT={self.settings.api_port}"
        yield f"IPUOF_VIPU_API_PARTITION_ID={partitions[0].name}"
        yield f"IPUOF_VIPU_API_GCD_ID={GCD}"

    def _partitions(self, job: Job) -> list[DeclaredPartition]:
        """The job's partitions that this node may use, the first one first."""
        note = job.note
        if PARTITIONS in note:
            names = note[PARTITIONS].split(",")
            return [found for found in self.settings.partitions if found.name in names and self.name in found.nodes]
        declared = [found for found in self.settings.partitions if found.name == note.get(PARTITION)]
        if declared or PARTITION not in note:
            return declared
        gcds = number(note, GCDS) or 1
        return [DeclaredPartition(note[PARTITION], job.ipus, gcds, gcds, (self.name,))]

    def _write_configurations(
        self, job: Job, partitions: Sequence[DeclaredPartition], controller: Controller, directory: str
    ) -> None:
        """The IPUoF configuration of each GCD, for the job's owner alone."""
        owner = _owner(job.uid)
        for partition in partitions:
            for gcd in range(partition.gcds):
                found = controller.ipuof_configuration(partition.name, gcd)
                path = f"{directory}/{configuration_name(partition.name, str(gcd))}"
                self.files.write(path, File(json.dumps(found, indent=2) + "\n", *owner, "0400"))

    def _write_user(self, job: Job, directory: str) -> None:
        """Return the `vipu` configuration of the job's V-IPU user, readable by the job's owner alone."""
        lines = [
            f'api-host="{self.settings.api_host}"',
            f'api-port="{self.settings.api_port}"',
            f'api-user-id="j{job.id}"',
            f'api-access-key="{self.slurm.secret_of(job.note[ACCESS])}"',
        ]
        owner = _owner(job.uid)
        if self.settings.node_certificates:
            lines.append(f'tls-certs="{directory}"')
            for name in TLS_FILES.values():
                source = f"{self.settings.node_certificates}/{name}"
                certificate = self.files.read(source)
                if certificate is None:
                    raise DeviceError(f"{source} is not there; run the role slurm again")
                self.files.write(f"{directory}/{name}", File(certificate.content, *owner, "0400"))
        self.files.write(f"{directory}/vipu.hcl", File("\n".join(lines) + "\n", *owner, "0400"))

    def _environment(self, job_number: int) -> str:
        return f"{self._directory(job_number)}.env"

    def _directory(self, job_number: int) -> str:
        return os.path.join(self.settings.run, str(job_number))


def configuration_name(partition: str, gcd: str) -> str:
    """The name of the file with the IPUoF configuration of one GCD, as V-IPU's own programs have it."""
    return f"{partition}_gcd{gcd}_ipuof.conf"


def _owner(uid: int) -> tuple[str, str]:
    """The names of a user and of its group.

    Raises:
        DeviceError: this host does not know it.
    """
    try:
        user = pwd.getpwuid(uid)
        return user.pw_name, grp.getgrgid(user.pw_gid).gr_name
    except KeyError:
        raise DeviceError(
            f"user {uid} or its group is not known on this node; make the users the same everywhere"
        ) from None
