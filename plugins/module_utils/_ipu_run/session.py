# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The containers of a session, and the files by which they, SSH, MPI and PopRun know each other. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from ipaddress import IPv4Address
from typing import Iterable, Sequence

from .._plan.converge import NOT_UNDERSTOOD, DeviceError
from .user import User

# The directory of a session in each of its containers.
DIRECTORY = "/etc/ipu-session"
SSH_CONFIG = "/etc/ssh/ssh_config.d/ipu-session.conf"
HOSTS = "/etc/hosts"
ACCOUNTS = "/etc/passwd"
SSHD = "/usr/sbin/sshd"
# One that needs no privilege.
PORT = 2222
# Its SSH key, by which a container is known as a host and as a client.
KEY, PUBLIC_KEY, SSHD_CONFIG = "key", "key.pub", "sshd_config"
# Set by the server for every login, or the shell's own.
_OF_LOGIN = ("HOME", "HOSTNAME", "TERM", "USER", "LOGNAME", "SHELL", "PWD")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,62}")
_PUBLIC_KEY = re.compile(r"ssh-ed25519 [A-Za-z0-9+/]{60,100}={0,2}")


@dataclass(frozen=True)
class Member:
    """The container of a session on one server, as the others see it.

    Args:
        name: the host name of its server, and so its own.
        address: its RNIC address.
        key: its public SSH key.
    """

    name: str
    address: str
    key: str


def as_line(members: Iterable[Member]) -> str:
    """Members for another ipu-run, in one line."""
    return json.dumps([asdict(member) for member in members])


def members_from(line: str) -> tuple[Member, ...]:
    """The same, read. Raises DeviceError: this is not what ipu-run says."""
    try:
        members = tuple(
            Member(each["name"], str(IPv4Address(each["address"])), each["key"]) for each in json.loads(line)
        )
        for member in members:
            if not _NAME.fullmatch(member.name) or not _PUBLIC_KEY.fullmatch(member.key):
                raise ValueError(member)
    except NOT_UNDERSTOOD:
        raise DeviceError("says something that is not understood; have one release of ipu-run on all servers") from None
    return members


def files_of(members: Sequence[Member]) -> dict[str, str]:
    """The files in the session's directory that name all members: for PopRun, MPI and SSH."""
    return {
        "hosts": "".join(f"{member.name}\n" for member in members),
        "hostfile": "".join(f"{member.name} slots=1\n" for member in members),
        "known_hosts": "".join(f"[{member.name}]:{PORT} {member.key}\n" for member in members),
        "authorized_keys": "".join(f"{member.key} {member.name}\n" for member in members),
    }


def hosts_of(members: Sequence[Member]) -> str:
    """The hosts file of each container."""
    return "127.0.0.1 localhost\n" + "".join(f"{member.address} {member.name}\n" for member in members)


def ssh_config_of(members: Sequence[Member]) -> str:
    """How plain ``ssh`` reaches the others."""
    return (
        f"Host {' '.join(member.name for member in members)}\n"
        f"Port {PORT}\n"
        f"IdentityFile {DIRECTORY}/{KEY}\n"
        "IdentitiesOnly yes\n"
        f"GlobalKnownHostsFile {DIRECTORY}/known_hosts\n"
        "UserKnownHostsFile /dev/null\n"
        "StrictHostKeyChecking yes\n"
        "CheckHostIP no\n"
        "BatchMode yes\n"
    )


def sshd_config_of(environment: Iterable[str]) -> str:
    """The settings of a container's SSH server; a login has the container's environment."""
    settings = " ".join(f'"{setting}"' for setting in environment if _for_logins(setting))
    return (
        f"Port {PORT}\n"
        f"HostKey {DIRECTORY}/{KEY}\n"
        f"AuthorizedKeysFile {DIRECTORY}/authorized_keys\n"
        "AuthenticationMethods publickey\n"
        "PermitRootLogin prohibit-password\n"
        # Its files are the server's, and there is nobody else.
        "StrictModes no\n"
        "UsePAM no\n"
        "PidFile none\n"
        "PrintMotd no\n"
        "Subsystem sftp internal-sftp\n"
        f"SetEnv {settings}\n"
    )


def mpi_environment(user: User) -> tuple[str, ...]:
    """What lets Open MPI, and so PopRun, find the members; it runs as root only where it is told so."""
    # What a user has in the own ~/.ssh/config would come first.
    ssh = f"OMPI_MCA_plm_rsh_args=-F {SSH_CONFIG}"
    as_root = ("OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
    return (f"OMPI_MCA_orte_default_hostfile={DIRECTORY}/hostfile", ssh, *(() if user.uid else as_root))


def accounts_of(user: User, home: str) -> str:
    """The accounts of a user's container, root and the user: ``ssh`` works for no one who has no name."""
    return f"root:x:0:0::/root:/bin/sh\n{user.name}:x:{user.uid}:{user.gid}::{home}:/bin/sh\n"


def _for_logins(setting: str) -> bool:
    """Earlier releases of OpenSSH have no way to write a quote."""
    return setting.partition("=")[0] not in _OF_LOGIN and not re.search(r'["\\\n]', setting)
