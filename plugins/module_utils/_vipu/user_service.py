# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The V-IPU controller through its published user service, gRPC: partitions, their status, IPUoF, IPU attributes.

Needs the Python packages grpcio and protobuf where it runs, and nothing of V-IPU. Knows no Ansible.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any, Callable, Mapping, Sequence, TypeVar

from .._plan.converge import NOT_UNDERSTOOD, DeviceError
from .._plan.steps import CREATE, Fields, State, Step
from .access import Credentials
from .cli import attributes_of
from .dialect import TLS_FILES
from .entities import PARTITION, plural
from .messages import CALLS, PACKAGE
from .spelling import create_request, read_entity, read_partition_status
from .wire import MISSING, decode, encode

try:
    import grpc
except ImportError as error:
    MISSING = str(error)

# Replies grow with the pods. A proxy from the environment must not come between.
CHANNEL_OPTIONS = (("grpc.max_receive_message_length", -1), ("grpc.enable_http_proxy", 0))
CALL_TIMEOUT = 60.0
POLL_INTERVAL = 0.2

Answer = TypeVar("Answer")
NO_OTHER_KIND = "the user service knows nothing of {}; use transport cli"


def connect(host: str, port: int, credentials: Credentials) -> Any:
    """A gRPC channel to a controller's user end-point; with TLS if the credentials have certificates.

    Raises:
        DeviceError: grpcio or protobuf is missing, a certificate cannot be read, or an access key would go without TLS.
    """
    if MISSING:
        raise DeviceError(
            f"transport grpc: {MISSING}; install grpcio and protobuf for {sys.executable}, or use transport cli"
        )
    address = f"{host}:{port}"
    if not credentials.tls_certs:
        if credentials.access_key:
            raise DeviceError(
                f"transport grpc: an access key goes to {address} over TLS alone; set tls_certs to the directory of "
                "the client's certificates"
            )
        return grpc.insecure_channel(address, options=CHANNEL_OPTIONS)
    ca, certificate, key = (
        _certificate(os.path.join(credentials.tls_certs, TLS_FILES[part])) for part in ("ca", "certificate", "key")
    )
    return grpc.secure_channel(address, grpc.ssl_channel_credentials(ca, key, certificate), options=CHANNEL_OPTIONS)


def _certificate(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise DeviceError(f"{path}: {error.strerror}; tls_certs has to be the client's directory") from error


class UserService:
    """One controller's user end-point.

    Args:
        channel: from :func:`connect`. Closing it is the caller's business.
        where: host and port, for messages.
        wait_timeout: how long a partition may take to come up or to go, in seconds.
    """

    kinds = (PARTITION,)

    def __init__(self, channel: Any, where: str, credentials: Credentials, wait_timeout: float = 120.0) -> None:
        self._channel = channel
        self._where = f"the V-IPU controller at {where}"
        self._metadata = credentials.metadata()
        self._wait_timeout = wait_timeout

    def read(self, kinds: Sequence[str] = kinds) -> State:
        """All partitions that the user may see, with one request."""
        return {kind: self._partitions(kind) for kind in kinds}

    def carry_out(self, step: Step) -> None:
        """Create or remove one partition and wait until that is done."""
        if step.kind != PARTITION:
            raise DeviceError(f"{self._where}: {NO_OTHER_KIND.format(plural(step.kind))}")
        if step.action == CREATE:
            self._call("CreatePartition", create_request(step.name, step.after or {}))
            self._wait_active(step.name)
        else:
            self._call("RemovePartition", {"partition_id": step.name})
            self._wait(lambda: step.name not in self._partitions(PARTITION), f"partition {step.name} is still there")

    def reset_partition(self, name: str) -> None:
        """Reset a partition and wait until it is ACTIVE again. Whatever runs on it ends."""
        self._call("ResetPartition", {"partition_id": name})
        self._wait_active(name)

    def partition_status(self, name: str) -> Fields:
        """``status``, ``operation``, ``errors`` and ``auto_resets`` of one partition."""
        reply = self._call("GetPartitionStatus", {"partition_id": name})
        return self._understood("GetPartitionStatus", lambda: read_partition_status(reply["status"]))

    def ipuof_configuration(self, name: str, gcd: int) -> dict[str, Any]:
        """The IPUoF configuration of one GCD of a partition: ``devices`` and ``attributes``."""
        reply = self._call("GetPartitionIpuofConfig", {"partition_id": name, "gcd_id": {"id": gcd}})
        return self._understood("GetPartitionIpuofConfig", lambda: dict(reply["ipuof_config"]["gcd_configs"][0]))

    def ipu_attributes(self) -> dict[str, dict[int, dict[str, str]]]:
        """Agent name to number of the IPU to its attributes."""
        reply = self._call("ListIPUAttributes", {})
        return self._understood("ListIPUAttributes", lambda: attributes_of(reply))

    def server_version(self) -> str:
        """The controller's V-IPU release, for example ``1.18.0``."""
        return str(self._call("GetVersion", {})["version"])

    def _partitions(self, kind: str) -> dict[str, Fields]:
        if kind != PARTITION:
            raise DeviceError(f"{self._where}: {NO_OTHER_KIND.format(plural(kind))}")
        reply = self._call("ListPartitions", {})
        return self._understood(
            "ListPartitions", lambda: dict(read_entity(kind, partition) for partition in reply["partitions"])
        )

    def _wait_active(self, name: str) -> None:
        status: Fields = {}

        def is_over() -> bool:
            status.update(self.partition_status(name))
            return status["status"] in ("ACTIVE", "ERROR")

        self._wait(is_over, f"partition {name} is not ACTIVE")
        if status["status"] == "ERROR":
            raise DeviceError(
                f"{self._where}: partition {name} ended in ERROR: {'; '.join(status['errors']) or 'no reason given'}"
            )

    def _wait(self, is_over: Callable[[], bool], meanwhile: str) -> None:
        deadline = time.monotonic() + self._wait_timeout
        while not is_over():
            if time.monotonic() > deadline:
                raise DeviceError(f"{self._where}: {meanwhile} after {self._wait_timeout:g} seconds")
            time.sleep(POLL_INTERVAL)

    def _understood(self, call: str, read: Callable[[], Answer]) -> Answer:
        try:
            return read()
        except NOT_UNDERSTOOD as error:
            raise DeviceError(
                f"{self._where}: the reply to {call} is not understood ({type(error).__name__} {error})"
            ) from error

    def _call(self, call: str, request: Mapping[str, Any]) -> dict[str, Any]:
        service, asked, replied = CALLS[call]
        method = self._channel.unary_unary(f"/{PACKAGE}.{service}/{call}")
        try:
            return decode(replied, method(encode(asked, request), timeout=CALL_TIMEOUT, metadata=self._metadata))
        except grpc.RpcError as error:
            raise DeviceError(f"{self._where}: {call} failed: {error.details() or error.code().name}") from error
