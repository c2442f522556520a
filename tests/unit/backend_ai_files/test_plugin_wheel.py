# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What pip gets: the wheel that is given, or one of a checkout, which pip installs and whose entry Python finds."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._backend_ai_host.look import ASK_PLUGINS
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.plugin_utils._backend_ai_files.wheel import wheel_from

PACKAGE = Path("src/ai/backend/accelerator/ipu")


def checkout(place: Path, version: str = "26.9.6") -> Path:
    """As Backend.AI's repository is laid out: the version is at its root, and the package has a link to it."""
    package = place / PACKAGE
    package.mkdir(parents=True)
    (place / "VERSION").write_text(f"{version}\n")
    (package / "VERSION").symlink_to(Path("../../../../../VERSION"))
    (package / "__init__.py").write_text(
        "from pathlib import Path\n__version__ = Path(__file__).with_name('VERSION')\n"
    )
    (package / "plugin.py").write_text("class IPUPlugin:\n    pass\n")
    (package / "BUILD").write_text("python_distribution()\n")
    return place


def test_a_wheel_of_a_checkout_is_what_pip_installs(tmp_path: Path) -> None:
    made = wheel_from(str(checkout(tmp_path / "checkout")))
    assert made.name == "backend_ai_accelerator_graphcore_ipu-26.9.6-py3-none-any.whl"
    file = tmp_path / made.name
    file.write_bytes(made.content)
    venv.create(tmp_path / "venv", with_pip=False)
    python = str(tmp_path / "venv" / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps", str(file)]
    subprocess.run(pip, check=True)
    asked = subprocess.run([python, "-c", ASK_PLUGINS], check=True, capture_output=True, text=True)
    [found] = json.loads(asked.stdout)
    assert (found["value"], found["version"]) == ("ai.backend.accelerator.ipu.plugin:IPUPlugin", "26.9.6")
    assert json.loads(found["origin"])["archive_info"]["hash"] == f"sha256={made.sha256}"
    assert Path(found["records"][0]).is_file()
    loads = "from ai.backend.accelerator.ipu import __version__, plugin; print(__version__.read_text())"
    assert subprocess.run([python, "-c", loads], check=True, capture_output=True, text=True).stdout == "26.9.6\n\n"


def test_the_same_checkout_is_the_same_wheel(tmp_path: Path) -> None:
    first, second = (wheel_from(str(checkout(tmp_path / name))) for name in ("a", "b"))
    assert first == second


def test_a_wheel_is_taken_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "backend.ai_accelerator_graphcore_ipu-26.8.0rc1-py3-none-any.whl"
    file.write_bytes(b"x")
    assert (wheel_from(str(file)).name, wheel_from(str(file)).content) == (file.name, b"x")


def test_what_is_neither_is_refused(tmp_path: Path) -> None:
    (tmp_path / "plugin.tar.gz").write_bytes(b"")
    with pytest.raises(Refused, match=r"is not called like a wheel; name a \.whl as it was built"):
        wheel_from(str(tmp_path / "plugin.tar.gz"))
    with pytest.raises(Refused, match=r"is no wheel and no checkout with src/ai/backend/accelerator/ipu/plugin.py"):
        wheel_from(str(tmp_path))


def test_a_checkout_without_a_version_is_refused(tmp_path: Path) -> None:
    place = checkout(tmp_path / "a")
    (place / PACKAGE / "VERSION").unlink()
    (place / "VERSION").unlink()
    with pytest.raises(Refused, match="has no file VERSION; take a whole checkout"):
        wheel_from(str(place))
    with pytest.raises(Refused, match=r"has '\.\./\.\./x', which is no version"):
        wheel_from(str(checkout(tmp_path / "b", "../../x")))
