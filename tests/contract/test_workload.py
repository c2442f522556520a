# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The workload and an IPU-Machine's data service, on loopback: where it finds its partition, and what it says."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from socketserver import BaseRequestHandler, TCPServer
from typing import Any

import pytest

from podsim import workload
from podsim.vipu.data_service import LARGEST_MESSAGE, LENGTH, DataService

HERE = "127.0.0.1"


@pytest.fixture(name="port")
def _port() -> Iterator[int]:
    """The port of a data service."""
    with DataService("lo", 0) as service:
        threading.Thread(target=service.serve_forever, daemon=True).start()
        yield service.server_address[1]
        service.shutdown()


def configuration(partition: str, *addresses: str) -> str:
    """An IPUoF configuration with four IPUs at each of some addresses."""
    devices = [{"ip": address, "server_port": 10000, "device_id": ipu} for address in addresses for ipu in range(4)]
    return json.dumps({"devices": devices, "attributes": {"Partition Id": partition}})


@pytest.fixture(name="rnic")
def _rnic(monkeypatch: pytest.MonkeyPatch) -> None:
    """No RNIC takes frames as large as those of loopback, nor does ping."""
    monkeypatch.setattr("podsim.workload._way", lambda _address: ("rnic0", 9000))


@pytest.mark.usefixtures("rnic")
def test_data_comes_back_as_it_was(port: int) -> None:
    moved = workload.use(HERE, port)
    assert (moved.mtu, moved.size) == (9000, workload.MESSAGES * LARGEST_MESSAGE)


def test_a_message_that_is_too_large_ends_the_connection(port: int) -> None:
    with socket.create_connection((HERE, port), timeout=5) as connection:
        connection.sendall(LENGTH.pack(LARGEST_MESSAGE + 1))
        assert connection.recv(1) == b""


@pytest.mark.usefixtures("rnic")
def test_a_port_where_nobody_listens_is_named() -> None:
    with socket.create_server((HERE, 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(workload.Failed) as failure:
        workload.use(HERE, port)
    assert str(failure.value) == (
        f"answers on rnic0, but takes no data at port {port}: [Errno 111] Connection refused."
    )


class Liar(BaseRequestHandler):
    """Gives back zeros."""

    def handle(self) -> None:
        """As many as it gets."""
        while header := self.request.recv(LENGTH.size, socket.MSG_WAITALL):
            data = self.request.recv(*LENGTH.unpack(header), socket.MSG_WAITALL)
            self.request.sendall(header + bytes(len(data)))


def test_what_was_not_sent_is_noticed() -> None:
    with TCPServer((HERE, 0), Liar) as liar:
        threading.Thread(target=liar.handle_request, daemon=True).start()
        port = liar.server_address[1]
        with pytest.raises(workload.Failed, match=f"^gives back at port {port} what was not sent\\.$"):
            workload.move(HERE, port)


def test_a_file_in_the_environment_comes_before_those_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, system, own = tmp_path / "home", tmp_path / "etc", tmp_path / "own.conf"
    monkeypatch.setattr("podsim.ipuof_settings.SYSTEM_DIRECTORY", system)
    places: list[tuple[dict[str, str], Path]] = [
        ({"IPUOF_CONFIG_PATH": str(own)}, own),
        ({}, home / ".ipuof.conf.d" / "mine_ipuof.conf"),
        ({}, system / "all_ipuof.conf"),
    ]
    # The first comes last, so that each is found with the others behind it there.
    for environment, path in reversed(places):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(configuration(path.name, "10.5.1.2", "10.5.1.1"))
        assert workload.find_machines(environment, home) == (
            path.name,
            [("10.5.1.1", 10000), ("10.5.1.2", 10000)],
        )


def output(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, **environment: Any) -> tuple[int, str]:
    """The exit code of the program in an environment, and what it says of its failure."""
    monkeypatch.setattr("os.environ", environment)
    code = workload.main()
    return code, capsys.readouterr().err


def test_without_settings_it_says_what_it_looked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("podsim.ipuof_settings.SYSTEM_DIRECTORY", tmp_path / "etc")
    assert output(capsys, monkeypatch, HOME=str(tmp_path)) == (
        1,
        "ipu-workload: there are no IPUoF settings: no IPUOF_VIPU_API_PARTITION_ID or IPUOF_CONFIG_PATH in the "
        f"environment, and no file in {tmp_path}/.ipuof.conf.d or {tmp_path}/etc; create a partition with vipu, or set "
        "them.\n",
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "the IPUoF configuration {path} cannot be read: No such file or directory."),
        ("{", "the IPUoF configuration {path} is not JSON; create the partition again, or its file."),
        (configuration("none"), "the IPUoF configuration has no IPUs."),
    ],
)
def test_a_configuration_that_cannot_be_used_is_named(
    content: str | None,
    sentence: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "own.conf"
    if content is not None:
        path.write_text(content)
    assert output(capsys, monkeypatch, IPUOF_CONFIG_PATH=str(path), HOME=str(tmp_path)) == (
        1,
        f"ipu-workload: {sentence.format(path=path)}\n",
    )


def test_a_controller_that_nobody_runs_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server((HERE, 0)) as server:
        port = str(server.getsockname()[1])
    code, sentence = output(
        capsys,
        monkeypatch,
        HOME=str(tmp_path),
        IPUOF_VIPU_API_HOST=HERE,
        IPUOF_VIPU_API_PORT=port,
        IPUOF_VIPU_API_PARTITION_ID="alice-train",
    )
    assert (code, sentence) == (1, f"ipu-workload: no V-IPU controller at {HERE}:{port}: Connection refused\n")
