# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A container of either engine uses the IPU-Machines of its partition, and leaves nothing behind."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.container_image import MAKE_IMAGE, PROGRAMS, WORKLOAD

testinfra_hosts = ["ssh://pod001-poplar1", "ssh://pod001-poplar2"]


@pytest.fixture(scope="module", name="server")
def _server(host: Any) -> Any:
    """A server with an image."""
    host.check_output(MAKE_IMAGE)
    return host


@pytest.mark.parametrize("engine", ["podman", "docker"])
def test_a_container_has_ipus_while_it_runs(server: Any, engine: str) -> None:
    said = server.check_output(f"ipu-run --engine {engine} --name train --ipus 8 {PROGRAMS} poplar {WORKLOAD}")
    assert "partition train: 64 MiB to and from 2 IPU-Machines" in said
    assert json.loads(server.check_output("ipu-run --list --json")) == []
    assert json.loads(server.check_output("vipu --showjson list partitions")) == {"partitions": []}


def test_a_container_asks_for_more_than_there_is(server: Any) -> None:
    (allocation,) = json.loads(server.check_output("vipu --showjson list allocations"))["allocations"]
    done = server.run("ipu-run --ipus 32 poplar true")
    assert (done.rc, done.stderr.strip()) == (125, f"ipu-run: --ipus 32: vPOD {allocation['id']} has 16; ask for fewer")
