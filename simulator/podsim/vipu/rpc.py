# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""gRPC, both ends: every call takes a dict and gives a dict; an interface says how they look on the wire."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import grpc

from podsim.vipu.errors import Refused

Handler = Callable[[dict[str, Any], Mapping[str, str]], dict[str, Any]]
"""Answers one call: (request, call metadata) -> reply. Raises Refused."""

# A proxy from the environment must never get between a pod's programs.
_CHANNEL_OPTIONS = (("grpc.enable_http_proxy", 0), ("grpc.max_receive_message_length", -1))
# Two servers on one port would share the calls; a port in use has to be an error.
_SERVER_OPTIONS = (("grpc.so_reuseport", 0), ("grpc.max_receive_message_length", -1))


class Codec(NamedTuple):
    """How a dict becomes bytes and back."""

    encode: Callable[[dict[str, Any]], bytes]
    decode: Callable[[bytes], dict[str, Any]]


class Interface(NamedTuple):
    """A service's full name and, for each method, the codecs of request and reply."""

    name: str
    methods: dict[str, tuple[Codec, Codec]]


class Service(NamedTuple):
    """An interface with the handlers that answer it."""

    interface: Interface
    handlers: dict[str, Handler]


def _encode_json(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode()


def _decode_json(data: bytes) -> dict[str, Any]:
    value = json.loads(data)
    if not isinstance(value, dict):
        raise ValueError("the payload is not a JSON object")
    return value


JSON = Codec(_encode_json, _decode_json)


def json_interface(name: str, methods: Sequence[str]) -> Interface:
    """An interface of our own, for what is not published: JSON objects both ways."""
    return Interface(name, dict.fromkeys(methods, (JSON, JSON)))


def serve(
    address: str,
    services: Sequence[Service],
    observe: Callable[[str, str], None] = lambda _service, _method: None,
    credentials: Any = None,
) -> Any:
    """A started gRPC server on address (host:port) with these services.

    `observe` hears service and method of every call before it is answered; it may raise Refused.
    Raises OSError when the address cannot be had.
    """
    server = grpc.server(ThreadPoolExecutor(max_workers=16, thread_name_prefix="rpc"), options=_SERVER_OPTIONS)
    server.add_generic_rpc_handlers([_generic_handler(service, observe) for service in services])
    try:
        bound = server.add_secure_port(address, credentials) if credentials else server.add_insecure_port(address)
    except RuntimeError:
        bound = 0
    if not bound:
        raise OSError(f"cannot listen on {address}: the port is in use or the address is not this machine's")
    server.start()
    return server


def _generic_handler(service: Service, observe: Callable[[str, str], None]) -> Any:
    methods = {}
    for method, (request_codec, reply_codec) in service.interface.methods.items():
        methods[method] = grpc.unary_unary_rpc_method_handler(
            _answer(service.interface.name, method, service.handlers[method], observe),
            request_deserializer=request_codec.decode,
            response_serializer=reply_codec.encode,
        )
    return grpc.method_handlers_generic_handler(service.interface.name, methods)


def _answer(service: str, method: str, handler: Handler, observe: Callable[[str, str], None]) -> Any:
    def answer(request: dict[str, Any], context: Any) -> dict[str, Any]:
        try:
            observe(service, method)
            return handler(request, dict(context.invocation_metadata()))
        except Refused as refusal:
            context.abort(grpc.StatusCode[refusal.code], str(refusal))
            raise  # never reached: abort raises

    return answer


class Unreachable(Exception):
    """Nobody answers at that address, or not in time."""


class Client:
    """One connection to a server. Raises Refused for a refusal and Unreachable when there is no answer."""

    def __init__(self, address: str, metadata: Mapping[str, str] | None = None, credentials: Any = None) -> None:
        self._metadata = tuple((metadata or {}).items())
        self._address = address
        if credentials:
            self._channel = grpc.secure_channel(address, credentials, options=_CHANNEL_OPTIONS)
        else:
            self._channel = grpc.insecure_channel(address, options=_CHANNEL_OPTIONS)

    def call(self, interface: Interface, method: str, request: dict[str, Any], timeout: float) -> dict[str, Any]:
        """The reply to one call; `timeout` in seconds."""
        return self.result(self.start(interface, method, request, timeout))

    def start(self, interface: Interface, method: str, request: dict[str, Any], timeout: float) -> Any:
        """Begins a call without waiting for its reply; hand what it gives to `result`."""
        request_codec, reply_codec = interface.methods[method]
        stub = self._channel.unary_unary(f"/{interface.name}/{method}", request_codec.encode, reply_codec.decode)
        return stub.future(request, timeout=timeout, metadata=self._metadata)

    def result(self, call: Any) -> dict[str, Any]:
        """Waits for the reply to a call that was started."""
        try:
            reply: dict[str, Any] = call.result()
        except grpc.RpcError as error:
            if error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
                raise Unreachable(f"no answer from {self._address}: {error.details()}") from None
            raise Refused(error.code().name, error.details() or error.code().name) from None
        return reply

    def close(self) -> None:
        """Ends the connection."""
        self._channel.close()
