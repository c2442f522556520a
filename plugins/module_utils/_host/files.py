# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plain files on this host: read whole, written atomically, never through a symbolic link."""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
import re
import shutil
import stat
from dataclasses import dataclass
from typing import Iterator

from .._plan.converge import DeviceError, Refused
from .atomic import NewFile, finished_name, rename


@dataclass(frozen=True)
class File:
    """A text file as it is or should be; ``mode`` is octal with four digits, for example ``0644``."""

    content: str
    owner: str = "root"
    group: str = "root"
    mode: str = "0644"


class NotPlain(DeviceError):
    """Something else than a regular file with UTF-8 text is in the place of one."""


@contextlib.contextmanager
def os_errors_as(what: str, remedy: str = "") -> Iterator[None]:
    """Let an error of the system in the body be a DeviceError that says what went wrong, why, and the remedy."""
    try:
        yield
    except OSError as error:
        raise DeviceError(f"{what}: {error.strerror}{remedy}") from error


class Files:
    """The files of one host, by absolute path; ``root`` is another folder than ``/`` for tests and images."""

    def __init__(self, root: str = "/") -> None:
        self._root = root

    def names(self, directory: str) -> list[str]:
        """The sorted names in a directory; none where it does not exist."""
        with os_errors_as(directory), contextlib.suppress(FileNotFoundError):
            return sorted(os.listdir(self._real(directory)))
        return []

    def read(self, path: str) -> File | None:
        """The file, or None where there is none.

        Raises:
            NotPlain: it is a link, a directory or the like, or not UTF-8 text.
            DeviceError: it cannot be read.
        """
        with os_errors_as(path), contextlib.suppress(FileNotFoundError):
            status = os.lstat(self._real(path))
            if not stat.S_ISREG(status.st_mode):
                raise NotPlain(f"{path} is not a regular file; move it away")
            try:
                with open(self._real(path), encoding="utf-8", newline="") as stream:
                    content = stream.read()
            except UnicodeDecodeError as error:
                raise NotPlain(f"{path} is not UTF-8 text; move it away") from error
            return File(content, _user(status.st_uid), _group(status.st_gid), f"{stat.S_IMODE(status.st_mode):04o}")
        return None

    def kernels(self, path: str) -> str:
        """The text of a file of the kernel, empty where there is none; what is not UTF-8 in it is replaced.

        Raises DeviceError: it cannot be read.
        """
        real = self._real(path)
        with os_errors_as(path), contextlib.suppress(FileNotFoundError), open(real, "rb") as stream:
            return stream.read().decode(errors="replace")
        return ""

    def modified(self, path: str) -> int | None:
        """When its content was last written, in nanoseconds since 1970; None where there is no such file."""
        try:
            return os.lstat(self._real(path)).st_mtime_ns
        except OSError:
            return None

    def unfinished(self, directory: str) -> dict[str, str]:
        """Return temporary files that an interrupted write has left in a directory, with the file each was to be."""
        found = ((name, finished_name(name)) for name in self.names(directory))
        return {f"{directory}/{name}": f"{directory}/{wanted}" for name, wanted in found if wanted}

    def write(self, path: str, file: File) -> None:
        """Put the file in place as a whole; missing directories are made with mode 0755.

        Raises DeviceError: it could not be written; what was there is still there.
        """
        real = self._real(path)
        with os_errors_as(f"{path} could not be written"):
            os.makedirs(os.path.dirname(real), mode=0o755, exist_ok=True)
            uid, gid = pwd.getpwnam(file.owner).pw_uid, grp.getgrnam(file.group).gr_gid
            with NewFile(real, int(file.mode, 8), uid, gid) as new:
                new.put(file.content)

    def remove(self, path: str) -> None:
        """Remove the file; it is no error if it is gone already."""
        with os_errors_as(f"{path} could not be removed"), contextlib.suppress(FileNotFoundError):
            os.unlink(self._real(path))

    def remove_directory(self, path: str) -> None:
        """Remove a directory with all that is in it; it is no error if it is gone already."""
        with os_errors_as(f"{path} could not be removed"), contextlib.suppress(FileNotFoundError):
            shutil.rmtree(self._real(path))

    def poke(self, path: str, line: str) -> None:
        """Write a line into a file of sysfs or configfs. Raises DeviceError: it is not there, or does not take it."""
        with os_errors_as(f"{path} does not take {line}"), open(self._real(path), "r+", encoding="utf-8") as stream:
            stream.write(line + "\n")

    def rename(self, path: str, new: str) -> bool:
        """Give a file another name in its directory, in one step; whether it was still there.

        Raises DeviceError: it could not be renamed.
        """
        with os_errors_as(f"{path} could not be renamed"), contextlib.suppress(FileNotFoundError):
            rename(self._real(path), self._real(new))
            return True
        return False

    def put(self, path: str, file: File | None) -> None:
        """Make the path what ``file`` says: this file, or None for no file."""
        if file is None:
            self.remove(path)
        else:
            self.write(path, file)

    def _real(self, path: str) -> str:
        return os.path.join(self._root, path.lstrip("/"))


def check_ownership(owner: str, group: str, mode: str) -> None:
    """Refuse a user or group that this host does not know, and a malformed mode, before anything is written."""
    if not re.fullmatch("0[0-7]{3}", mode):
        raise Refused(f"file_mode: {mode!r} is no mode; write four octal digits in quotes, like '0644'")
    try:
        pwd.getpwnam(owner)
    except KeyError:
        raise Refused(f"owner: there is no user {owner!r} on this host; create it first or name another") from None
    try:
        grp.getgrnam(group)
    except KeyError:
        raise Refused(f"group: there is no group {group!r} on this host; create it first or name another") from None


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)
