# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the execution environment of docs/fleets, unless there is one of this checkout, and print its name.

It is built without a network: on a small Debian of the host's own archive, from the packages of its lock, and from the
artefact of the collection. Its tag is a hash of these, so an image that exists is never stale.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from artefact import build
from lock import lock_of

from podsim.floor.image import fingerprint, install_debian, root_files
from podsim.floor.podman import Podman
from podsim.floor.state import StateDirectory

ROOT = Path(__file__).resolve().parents[2]
DEFINITION = ROOT / "docs" / "fleets" / "execution-environment.yml"
NAME = "localhost/ipu-pod-execution-environment"
BASE = "localhost/ipu-pod-execution-environment-base"
# The release of the definition's base image, and its Python.
RELEASE, PYTHON = "bookworm", "3.11"
PACKAGES = ("ca-certificates", "openssh-client", "python3", "python3-venv")
# All that is made from it has it, too.
LABEL = "ipu.pod=execution-environment"
RECIPE = ("docs/fleets/execution-environment.yml", "galaxy.yml", "meta", "playbooks", "plugins", "roles")
PLATFORMS = ("manylinux_2_34", "manylinux_2_28", "manylinux_2_17", "manylinux2014", "manylinux2010", "manylinux1")
# Where the build finds Python packages.
WHEELS = "/wheels"
PIP_CONFIGURATION = f"[global]\nno-index = true\nfind-links = {WHEELS}\n"


def tag() -> str:
    """The name and tag of the image of this checkout."""
    names = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard", *RECIPE],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\0")
    digest = hashlib.sha256(_base_tag().encode() + lock_of("execution-environment", PYTHON).read_bytes())
    for name in sorted(names):
        # A file that was removed is still in git's index.
        if name and (ROOT / name).is_file():
            digest.update(f"{name}\0".encode() + (ROOT / name).read_bytes())
    return f"{NAME}:{digest.hexdigest()[:12]}"


def provide(podman: Podman, state: StateDirectory) -> str:
    """The name and tag of the image, built where there is none; the first time takes two minutes."""
    wanted = tag()
    if not podman.images(wanted):
        if not podman.images(_base_tag()):
            _build_base(podman, state)
        _build(podman, state, wanted)
    return wanted


def _base_tag() -> str:
    return f"{BASE}:{fingerprint((PACKAGES, RELEASE, LABEL), b'')}"


def _build_base(podman: Podman, state: StateDirectory) -> None:
    archive = state.image / "execution-environment.tar"
    try:
        install_debian(archive, PACKAGES, root_files({}), (), state, RELEASE)
        podman.run("import", "--quiet", f"--change=LABEL {LABEL}", str(archive), _base_tag())
    finally:
        archive.unlink(missing_ok=True)


def _build(podman: Podman, state: StateDirectory, wanted: str) -> None:
    folder = state.image / "execution-environment"
    wheels, configuration = folder / "wheels", folder / "pip.conf"
    wheels.mkdir(parents=True)
    configuration.write_text(PIP_CONFIGURATION, encoding="ascii")
    _download(wheels)
    shutil.copy(DEFINITION, folder)
    build(ROOT, folder / "artefact").rename(folder / "ipu-pod.tar.gz")
    # With what podman has kept of their stages.
    stages = podman.run("image", "list", "--quiet", "--filter=dangling=true", f"--filter=label={LABEL}").split()
    # Another checkout may be at work with one that is younger.
    earlier = [*podman.images(NAME, "containers=false", "until=24h"), *stages]
    volumes = f"--volume={wheels}:{WHEELS}:ro --volume={configuration}:/etc/pip.conf:ro"
    subprocess.run(
        [
            *("ansible-builder", "build", "--container-runtime", "podman", "--tag", wanted, "--verbosity", "1"),
            *("--build-arg", f"EE_BASE_IMAGE={_base_tag()}", "--file", str(folder / DEFINITION.name)),
            *("--context", str(folder / "context")),
            f"--extra-build-cli-args=--network=none --pull=never {volumes}",
        ],
        check=True,
        env={**os.environ, "CONTAINERS_CONF": str(state.containers_conf)},
    )
    if earlier:
        podman.run("image", "rm", *earlier)


def _download(folder: Path) -> None:
    """The locked packages, for the Python of the image."""
    platforms = (f"--platform={platform}_x86_64" for platform in PLATFORMS)
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"),
            *("--only-binary=:all:", f"--python-version={PYTHON}", *platforms, "--dest", str(folder)),
            *("--requirement", str(lock_of("execution-environment", PYTHON))),
        ],
        check=True,
    )


def main() -> int:
    """Provide it, and print its name."""
    # As root, sudo has not left the environment's programs there.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as directory:
        state = StateDirectory(Path(directory))
        state.create()
        podman = Podman(state)
        podman.configure()
        print(provide(podman, state))
    return 0


if __name__ == "__main__":
    sys.exit(main())
