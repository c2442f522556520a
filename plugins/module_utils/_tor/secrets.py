# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a switch's configuration may be kept and shown: lines of others can hold secrets in any spelling. Pure."""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import Sequence

from .setting_type import is_ours
from .settings import PORT, PROFILE, QUEUE, WATCHDOG

# Whatever follows is left out. What a shell is given may have secrets in any place.
_SECRET = re.compile(
    r"([\w-]*(?:secret|passw|passphrase|token|credential|community)[\w-]*|[\w-]*keys?\b|\bkey-\w+"
    r"|\b(?:authentication|authorization|auth|priv|bearer|md5|sha\d*|bash|exec)\b"
    r"|\bsnmp-server (?:user|host|engineid)\b).*",
    re.IGNORECASE,
)
_USER_OF_URL = re.compile(r"://\S*@")
# Blocks whose headers are nothing but numbers and names.
_NAMED_BLOCK = re.compile(r"interface [\w/,.-]+|vlan [\d,-]+|qos profile \S+|tx-queue \d+|end")
# What a command of EOS begins with; two words say what it is, and hold no value of it.
_COMMAND = re.compile(r"(?:no )?[a-z][a-z0-9-]*(?: [a-z][\w-]*(?!\S))?")
_OURS = re.compile(r"name \S+|qos map .*|vxlan vlan [\d,-]+ vni [\d,-]+")
_LINE_OF_DIFF = re.compile(r"([-+ ]?[ \t]*)(.*)")
_FRAME_OF_DIFF = ("---", "+++", "@@")


def without_secrets(text: str) -> str:
    """Configuration without what follows words such as ``secret`` or ``key``; for what nobody is shown."""
    return "\n".join(_USER_OF_URL.sub("://...@", _SECRET.sub(r"\1 ...", line)) for line in text.split("\n"))


def header_of(line: str) -> str:
    """What may be shown of a line of others, as ``RunningConfig.foreign_lines`` has it."""
    header = line.split(" / ", maxsplit=1)[0]
    if _NAMED_BLOCK.fullmatch(header):
        return header
    command = _COMMAND.match(header)
    shown = without_secrets(command[0]) if command else ""
    return shown if shown == header or shown.endswith("...") else f"{shown} ...".lstrip()


def shown_diff(diff: str) -> str:
    """The switch's own diff: our settings as they are, and of all other lines what :func:`header_of` says."""
    return "\n".join(map(_shown_line, diff.split("\n")))


def _shown_line(line: str) -> str:
    if line.startswith(_FRAME_OF_DIFF):
        return line
    found = _LINE_OF_DIFF.fullmatch(line)
    mark, text = found.groups() if found else ("", line)
    is_known = not text or _OURS.fullmatch(text) or is_ours((*PORT, *PROFILE, *QUEUE, *WATCHDOG), text)
    return line if is_known else mark + header_of(text)


def digests(lines: Sequence[str], key: str) -> list[str]:
    """Digests that tell lines apart for who has the key of the run; nobody else can try lines on them."""
    return [hmac.new(key.encode(), line.encode(), hashlib.sha256).hexdigest()[:16] for line in lines]
