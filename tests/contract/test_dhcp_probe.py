# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The DHCP probe against a real dnsmasq, in network namespaces of the test's own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._pod_services.configurations import dnsmasq_configuration
from tests.support.checkout import COLLECTIONS

MISSING = [name for name in ("dnsmasq", "ip") if shutil.which(name) is None] + (["root"] if os.geteuid() else [])
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"the DHCP probe's test needs {', '.join(MISSING)}")

KNOWN = "0c:42:a1:00:01:01"
PROBE = """
import json, sys
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._dhcp.probe import probe
try:
    print(json.dumps([[offer.server, offer.address, offer.mac] for offer in probe(sys.argv[1], sys.argv[2:], 1.0)]))
except Refused as refused:
    print(json.dumps(str(refused)))
"""


def in_namespace(namespace: str, *command: str) -> str:
    done = subprocess.run(
        ["ip", "netns", "exec", namespace, *command],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(COLLECTIONS)},
    )
    return done.stdout


@pytest.fixture
def namespaces() -> Iterator[tuple[str, str]]:
    """Two namespaces with one cable: ``asks`` in the first, ``serves`` in the second."""
    names = (f"ipu-ask-{os.getpid()}", f"ipu-serve-{os.getpid()}")
    for name in names:
        subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        ask, serve = names
        in_namespace(ask, "ip", "link", "add", "asks", "type", "veth", "peer", "name", "serves", "netns", serve)
        in_namespace(ask, "ip", "link", "set", "asks", "up")
        in_namespace(serve, "ip", "link", "set", "serves", "up")
        in_namespace(serve, "ip", "address", "add", "10.5.255.254/16", "dev", "serves")
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=True)


@pytest.fixture
def dhcp_server(namespaces: tuple[str, str], tmp_path: Path) -> Iterator[None]:
    """dnsmasq with the configuration that the collection writes."""
    hosts = [{"name": "pod001-ipum1-rnic", "mac": KNOWN, "address": "10.5.1.1"}]
    file, leases, pid = (tmp_path / name for name in ("dnsmasq.conf", "leases", "pid"))
    file.write_text(
        dnsmasq_configuration({"interface": "serves", "networks": ["10.5.0.0/16"]}, hosts, ["10.5.255.254"]), "ascii"
    )
    tmp_path.chmod(0o755)
    options = [f"--conf-file={file}", f"--dhcp-leasefile={leases}", f"--pid-file={pid}", "--user=root"]
    # It goes to the background when it is ready to answer.
    in_namespace(namespaces[1], "dnsmasq", *options, f"--log-facility={tmp_path / 'log'}")
    yield
    os.kill(int(pid.read_text("ascii")), 15)


def offers(namespace: str, *arguments: str) -> str:
    return in_namespace(namespace, sys.executable, "-c", PROBE, *arguments).strip()


@pytest.mark.usefixtures("dhcp_server")
def test_a_server_is_seen_by_those_whom_it_knows(namespaces: tuple[str, str]) -> None:
    assert offers(namespaces[0], "asks") == "[]"
    assert offers(namespaces[0], "asks", KNOWN) == f'[["10.5.255.254", "10.5.1.1", "{KNOWN}"]]'


@pytest.mark.usefixtures("dhcp_server")
def test_a_server_on_the_same_host_is_not_seen(namespaces: tuple[str, str]) -> None:
    assert offers(namespaces[1], "serves", KNOWN) == "[]"


def test_nobody_answers(namespaces: tuple[str, str]) -> None:
    assert offers(namespaces[0], "asks", KNOWN) == "[]"


def test_an_interface_that_cannot_be_asked_on_is_refused(namespaces: tuple[str, str]) -> None:
    in_namespace(namespaces[0], "ip", "link", "set", "asks", "down")
    assert offers(namespaces[0], "asks") == '"interface asks is down; bring it up before DHCP is served on it"'
    assert "there is none of this name" in offers(namespaces[0], "asks7")
