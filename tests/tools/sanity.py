# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run `ansible-test sanity` on the unpacked artefact (see artefact.py), with nothing ignored.

ansible-test gets a home of its own under build/, which keeps its tool environments for the next run.
"""

from __future__ import annotations

import ast
import configparser
import os
import subprocess
import sys
from pathlib import Path

from ansible_test._internal.host_configs import NativePythonConfig
from ansible_test._internal.python_requirements import get_venv_packages

ROOT = Path(__file__).resolve().parents[2]
TREE = ROOT / "build" / "artefact" / "collections" / "ansible_collections" / "ipu" / "pod"
HOME = ROOT / "build" / "sanity-home"
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"

# ansible-test downloads get-pip.py from a host of its own; this stands in for it and needs the package index only.
GET_PIP = """\
import subprocess
import sys

wanted = [argument for argument in sys.argv[1:] if argument not in ("--no-setuptools", "--no-wheel")]
command = [{python!r}, "-m", "pip", "--python", sys.executable, "install", "--quiet", *wanted]
sys.exit(subprocess.run(command).returncode)
"""


def pip_configuration() -> configparser.ConfigParser:
    """Return pip's configuration as it is here, from files and variables: ansible-test hides both from pip."""
    pip = [sys.executable, "-m", "pip", "config", "list"]
    listing = subprocess.run(pip, check=True, capture_output=True, text=True).stdout
    configuration = configparser.ConfigParser(interpolation=None)
    configuration.add_section("global")
    # A line is global.cert='…' or :env:.cert='…'; variables are listed first, and win.
    for line in reversed(listing.splitlines()):
        key, _, value = line.partition("=")
        configuration.set("global", key.rpartition(".")[2], ast.literal_eval(value))
    return configuration


def prepare_home() -> None:
    """Make ansible-test's home: the stand-in for get-pip.py, and pip's configuration."""
    version = get_venv_packages(NativePythonConfig(version=PYTHON, path=sys.executable))["pip"]
    stand_in = HOME / ".ansible" / "test" / "cache" / f"get_pip_{version.replace('.', '_')}.py"
    stand_in.parent.mkdir(parents=True, exist_ok=True)
    stand_in.write_text(GET_PIP.format(python=sys.executable), encoding="utf-8")
    pip_conf = HOME / ".config" / "pip" / "pip.conf"
    pip_conf.parent.mkdir(parents=True, exist_ok=True)
    with pip_conf.open("w", encoding="utf-8") as file:
        pip_configuration().write(file)


def main() -> int:
    """Run the sanity tests; the exit status is ansible-test's."""
    prepare_home()
    command = ["ansible-test", "sanity", "--venv", "--python", PYTHON, "--color", "no"]
    return subprocess.run(command, cwd=TREE, env={**os.environ, "HOME": str(HOME)}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
