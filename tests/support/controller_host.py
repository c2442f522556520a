# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The host of a V-IPU controller in a container, with IPU-Machines whose agents it reaches, and no controller yet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from podsim.floor import image
from tests.support.container_server import ContainerServer, podman_in, skip_without_podman

# Each IPU-Machine has its own loopback address, so that its agent can have the port that agents have.
MACHINES = {f"p-ipum{n}": f"127.45.0.{n}" for n in range(1, 17)}


@contextmanager
def controller_host(folder: Path, number: int = 0) -> Iterator[ContainerServer]:
    """The running host, with its files in a folder; its number tells it from others there."""
    skip_without_podman()
    podman = podman_in(folder)
    server = ContainerServer(podman, folder, number)
    tag = image.tag()
    if not podman.images(tag):
        pytest.skip("needs the image of the simulated pod; `make contract` builds it")
    try:
        server.start(tag)
        for name, address in MACHINES.items():
            agent = f"podsim agent --listen {address}:8080 --id {name} --metrics-port 0"
            server.sh(f"systemd-run --quiet --unit agent-{name} /usr/local/bin/{agent}")
        yield server
    finally:
        server.stop()
