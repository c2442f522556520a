# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ordinary things of a host as they are: files, units, packages, users, kernel parameters. Only looks.

No file is opened that is none: a pipe would wait, and a device may do something.
"""

from __future__ import annotations

import glob
import grp
import hashlib
import hmac
import os
import pwd
import re
import stat
import time
from typing import Any, Callable, Dict, Iterable, Iterator, Mapping, Sequence

from .._host.programs import Programs
from .._plan.converge import DeviceError

TEXT_LIMIT = 64 * 1024
HIDDEN = "(secret)"
# Everything up to the end of the line: what follows the value may belong to it.
_ACCESS_KEY = re.compile(r"""(api-access-key["']?[ \t]*[=:][ \t]*["']?)(.*?)(["']?[ \t]*,?[ \t]*)$""", re.MULTILINE)
_UNIT_PROPERTIES = (
    "LoadState",
    "ActiveState",
    "UnitFileState",
    "ExecMainStartTimestampMonotonic",
    "ActiveEnterTimestampMonotonic",
)
# What `systemctl is-enabled` calls enabled by its exit status, without mere other names of units.
_ENABLED = ("enabled", "enabled-runtime", "static", "generated")
_KINDS = ((stat.S_ISREG, "file"), (stat.S_ISDIR, "directory"), (stat.S_ISLNK, "link"))

# By ID in /etc/os-release; facts have the others in the spelling there, with a capital letter.
_DISTRIBUTIONS = {"almalinux": "AlmaLinux", "centos": "CentOS", "ol": "OracleLinux", "rhel": "RedHat"}
# By ID or, for a distribution that is like another one, by ID_LIKE.
_FAMILIES = {"debian": "Debian", "ubuntu": "Debian", "rhel": "RedHat", "fedora": "RedHat", "suse": "Suse"}
_OS_RELEASE = re.compile(r"""^(ID|ID_LIKE|VERSION_ID)=["']?([^"'\n]*)""", re.MULTILINE)

Found = Dict[str, Any]


def paths_from(paths: Iterable[str], secrets: Iterable[str] = ()) -> dict[str, Found]:
    """Return the state of each path without following links. Globs are expanded, missing paths left out.

    Of ``secrets`` that not everybody can read there is no checksum: whoever sees it could try guesses.
    """
    hidden = set(_expanded(secrets))
    found = {path: _path(path, path in hidden) for path in _expanded(paths)}
    return {path: seen for path, seen in found.items() if seen}


def texts_from(paths: Iterable[str]) -> dict[str, str]:
    """The texts, without access keys, of those paths that are, or link to, plain files of a text's size."""
    return {path: _hidden(text) for path, text in _texts(paths).items()}


def secrets_from(paths: Iterable[str], run_key: str) -> dict[str, Found]:
    """Files that hold an access key, without it, and what can be compared with another host's by the same run."""
    return {path: _secret(text, run_key) for path, text in _texts(paths).items()}


def accounts_from(names: Iterable[str]) -> list[str]:
    """Those users that this host knows."""
    return [name for name in sorted(set(names)) if _is_account(name)]


def kernel_parameters_from(names: Iterable[str], root: str = "/proc/sys") -> dict[str, str]:
    """The running values, with one blank where the kernel has tabs; what this kernel does not have is left out."""
    # The name of an interface may have a dot, for which a slash stands in the parameter's name.
    files = {name: os.path.join(root, name.translate({ord("."): "/", ord("/"): "."})) for name in sorted(set(names))}
    contents = {name: _content(file, TEXT_LIMIT) for name, file in files.items()}
    return {
        name: " ".join(text.decode(errors="replace").split()) for name, text in contents.items() if text is not None
    }


def units_from(
    programs: Programs,
    names: Iterable[str],
    clock: Callable[[], float] = time.time,
    since_boot: Callable[[], float] = time.monotonic,
) -> dict[str, Found]:
    """The state of all units, by one question.

    Raises:
        DeviceError: systemd does not answer for each.
    """
    asked = sorted(set(names))
    if not asked:
        return {}
    output = programs.call(["systemctl", "show", f"--property={','.join(_UNIT_PROPERTIES)}", "--", *asked])
    blocks = [dict(line.split("=", 1) for line in block.splitlines()) for block in output.strip().split("\n\n")]
    if len(blocks) != len(asked):
        raise DeviceError(f"systemctl show: {len(blocks)} answers for {len(asked)} units")
    # systemd's own times of day have no fractions of seconds, and a file is often written in the second of a start.
    booted = clock() - since_boot()
    return {name: _unit(block, booted) for name, block in zip(asked, blocks)}


def packages_from(programs: Programs, names: Iterable[str], distribution: Mapping[str, Any]) -> Found:
    """Return the packages that are not installed, by one query of the host's package database."""
    asked = sorted(set(names))
    by_rpm_first = distribution.get("os_family") != "Debian"
    askers = (_missing_by_rpm, _missing_by_dpkg) if by_rpm_first else (_missing_by_dpkg, _missing_by_rpm)
    for ask in askers if asked else ():
        try:
            return {**distribution, "missing": ask(programs, asked), "unknown": False}
        except DeviceError:
            continue
    return {**distribution, "missing": [], "unknown": bool(asked)}


def distribution_from(os_release: str) -> dict[str, str]:
    """The distribution, its version and its family, by the text of /etc/os-release.

    They are called as Ansible's facts are. A family that is not known is the name.
    """
    values = dict(_OS_RELEASE.findall(os_release))
    own = values.get("ID", "linux")
    name = _DISTRIBUTIONS.get(own, own.capitalize())
    families = (_FAMILIES[each] for each in (own, *values.get("ID_LIKE", "").split()) if each in _FAMILIES)
    version = values.get("VERSION_ID", "")
    return {"distribution": name, "distribution_version": version, "os_family": next(families, name)}


def _expanded(paths: Iterable[str]) -> Sequence[str]:
    return sorted({match for path in paths for match in (glob.glob(path) if glob.has_magic(path) else [path])})


def _path(path: str, may_be_secret: bool) -> Found:
    try:
        status = os.lstat(path)
        found: Found = {
            "kind": next((kind for is_kind, kind in _KINDS if is_kind(status.st_mode)), "other"),
            "owner": _name(pwd.getpwuid, status.st_uid),
            "group": _name(grp.getgrgid, status.st_gid),
            "mode": f"{stat.S_IMODE(status.st_mode):04o}",
            "modified": status.st_mtime,
        }
        if found["kind"] == "link":
            found["target"] = os.readlink(path)
        is_secret = may_be_secret and not status.st_mode & stat.S_IROTH
        if found["kind"] == "file" and not is_secret:
            found["sha256"] = _checksum(path)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    return found


def _is_account(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def _name(of: Callable[[int], Any], number: int) -> str:
    try:
        return str(of(number)[0])
    except KeyError:
        return str(number)


def _checksum(path: str) -> str:
    checksum = hashlib.sha256()
    for piece in _pieces(path):
        checksum.update(piece)
    return checksum.hexdigest()


def _content(path: str, limit: int) -> bytes | None:
    """The whole content; None where there is no plain file, or a longer one."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
        content = b""
        for piece in _pieces(path):
            content += piece
            if len(content) > limit:
                return None
    except (FileNotFoundError, NotADirectoryError):
        return None
    return content


def _pieces(path: str) -> Iterator[bytes]:
    # Not blocking: it may have become a pipe since it was looked at.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as stream:
        yield from iter(lambda: stream.read(1024 * 1024), b"")


def _texts(paths: Iterable[str]) -> dict[str, str]:
    contents = {path: _content(path, TEXT_LIMIT) for path in _expanded(paths)}
    return {path: content.decode(errors="replace") for path, content in contents.items() if content is not None}


def _hidden(text: str) -> str:
    return _ACCESS_KEY.sub(lambda match: match.group(1) + HIDDEN + match.group(3), text)


def _secret(text: str, run_key: str) -> Found:
    key = _ACCESS_KEY.search(text)
    value = (key.group(2) if key else text).strip()
    digest = hmac.new(run_key.encode(), value.encode(), "sha256").hexdigest()
    return {"text": _hidden(text) if key else HIDDEN, "secret": digest}


def _unit(properties: Mapping[str, str], booted: float) -> Found:
    starts = (properties.get(f"{event}TimestampMonotonic", "") for event in ("ExecMainStart", "ActiveEnter"))
    started = next((int(start) / 1e6 for start in starts if start.isdigit() and int(start)), None)
    return {
        "there": properties.get("LoadState") != "not-found",
        "active": properties.get("ActiveState", "unknown"),
        "enabled": properties.get("UnitFileState") in _ENABLED,
        "started": started,
        "started_at": None if started is None else booted + started,
    }


def _missing_by_dpkg(programs: Programs, names: Sequence[str]) -> list[str]:
    status, output, errors = programs.attempt(
        ["dpkg-query", "--show", "--showformat=${Package} ${db:Status-Status}\n", *names]
    )
    # 1 tells that one of them is unknown to it.
    if status not in (0, 1):
        raise DeviceError(f"dpkg-query: {errors}")
    there = {line.split()[0] for line in output.splitlines() if line.endswith(" installed")}
    return [name for name in names if name not in there]


def _missing_by_rpm(programs: Programs, names: Sequence[str]) -> list[str]:
    # Its exit status is the number of those that are missing.
    _status, output, errors = programs.attempt(["rpm", "--query", "--whatprovides", *names])
    lines = output.splitlines()
    if len(lines) < len(names):
        raise DeviceError(f"rpm: {errors}")
    return [name for name in names if f"no package provides {name}" in lines]
