# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The IPU plugin as pip installs it: the wheel that the operator gives, or one that is made of a checkout.

Backend.AI's own repository is built by a tool that no server has. Of the plugin it needs nothing but its package.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.ipu.pod.plugins.module_utils._backend_ai_host.look import GROUP, PACKAGE, PLUGIN
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused

# As Backend.AI itself calls it.
DISTRIBUTION = "backend.ai-accelerator-graphcore-ipu"
_FOLDER = Path(*PACKAGE.split("."))
_PLACES = (Path("src") / _FOLDER, _FOLDER)
_ENTRY = "IPUPlugin"
_NAME = re.compile(r"[A-Za-z0-9_.]+-[A-Za-z0-9_.!+]+(-\d\w*)?-[\w.]+-[\w.]+-[\w.]+\.whl")
_VERSION = re.compile(r"\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?")
# The same on every machine: nothing compressed, and no time of today.
_LONG_AGO = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Wheel:
    """A wheel: its file name, and what is in it."""

    name: str
    content: bytes

    @property
    def sha256(self) -> str:
        """As pip notes it."""
        return hashlib.sha256(self.content).hexdigest()


def wheel_from(given: str) -> Wheel:
    """The wheel of a path on the control node. Raises Refused: there is no plugin."""
    path = Path(given)
    if path.is_file():
        if not _NAME.fullmatch(path.name):
            raise Refused(f"backend_ai_agent_plugin: {given} is not called like a wheel; name a .whl as it was built")
        return Wheel(path.name, path.read_bytes())
    for place in _PLACES:
        if (path / place / "plugin.py").is_file():
            return _made_of(path / place, given)
    raise Refused(f"backend_ai_agent_plugin: {given} is no wheel and no checkout with {_PLACES[0]}/plugin.py; name one")


def _made_of(package: Path, given: str) -> Wheel:
    files = {
        str(_FOLDER / path.relative_to(package)): path.read_bytes()
        for path in sorted(package.rglob("*"))
        if path.is_file() and (path.suffix in (".py", ".pyi", ".typed") or path.name == "VERSION")
    }
    version = _version(package, given)
    stem = f"{re.sub('[-.]', '_', DISTRIBUTION)}-{version}"
    info = f"{stem}.dist-info"
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {DISTRIBUTION}\nVersion: {version}\n".encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: ipu.pod\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/entry_points.txt"] = f"[{GROUP}]\n{PLUGIN} = {PACKAGE}.plugin:{_ENTRY}\n".encode()
    record = f"{info}/RECORD"
    lines = [f"{name},sha256={_digest(content)},{len(content)}" for name, content in files.items()]
    files[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _LONG_AGO), content)
    return Wheel(f"{stem}-py3-none-any.whl", buffer.getvalue())


def _version(package: Path, given: str) -> str:
    """That of the checkout, beside the package or at the root."""
    for path in (package / "VERSION", Path(given) / "VERSION"):
        if path.is_file():
            version = path.read_text(encoding="utf-8").strip()
            if not _VERSION.fullmatch(version):
                raise Refused(f"backend_ai_agent_plugin: {path} has {version[:40]!r}, which is no version; write 1.0.0")
            return version
    raise Refused(f"backend_ai_agent_plugin: {given} has no file VERSION; take a whole checkout")


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
