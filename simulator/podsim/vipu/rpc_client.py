# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The asking end of gRPC calls, for a program that stays and has many under way."""

from __future__ import annotations

from typing import Any

import grpc

from podsim.vipu.errors import Refused
from podsim.vipu.rpc import Interface, Unreachable

# A proxy from the environment must never get between a pod's programs.
_OPTIONS = (("grpc.enable_http_proxy", 0), ("grpc.max_receive_message_length", -1))


class Client:
    """One connection to a server. Raises Refused for a refusal and Unreachable when there is no answer."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._channel = grpc.insecure_channel(address, options=_OPTIONS)

    def start(self, interface: Interface, method: str, request: dict[str, Any], timeout: float) -> Any:
        """Begins a call without waiting for its reply, `timeout` in seconds; hand what it gives to `result`."""
        request_codec, reply_codec = interface.methods[method]
        stub = self._channel.unary_unary(f"/{interface.name}/{method}", request_codec.encode, reply_codec.decode)
        return stub.future(request, timeout=timeout)

    def result(self, call: Any) -> dict[str, Any]:
        """Waits for the reply to a call that was started."""
        try:
            reply: dict[str, Any] = call.result()
        except grpc.RpcError as error:
            if error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
                raise Unreachable(f"no answer from {self._address}: {error.details()}") from None
            raise Refused(error.code().name, error.details() or error.code().name) from None
        return reply
