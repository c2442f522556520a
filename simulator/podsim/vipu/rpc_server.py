# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The answering end of gRPC calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc

from podsim.vipu import tls
from podsim.vipu.errors import Refused
from podsim.vipu.rpc import Handler, Service

# Two servers on one port would share the calls; a port in use has to be an error.
_OPTIONS = (("grpc.so_reuseport", 0), ("grpc.max_receive_message_length", -1))


def serve(
    address: str,
    services: Sequence[Service],
    observe: Callable[[str, str], None] = lambda _service, _method: None,
    certificates: tls.Files | None = None,
) -> Any:
    """A started gRPC server on address (host:port) with these services; with certificates, clients need theirs.

    `observe` hears service and method of every call before it is answered; it may raise Refused.
    Raises OSError when the address cannot be had, or the certificates cannot be read.
    """
    credentials = _credentials(certificates) if certificates else None
    server = grpc.server(ThreadPoolExecutor(max_workers=16, thread_name_prefix="rpc"), options=_OPTIONS)
    server.add_generic_rpc_handlers([_generic_handler(service, observe) for service in services])
    try:
        bound = server.add_secure_port(address, credentials) if credentials else server.add_insecure_port(address)
    except RuntimeError:
        bound = 0
    if not bound:
        raise OSError(f"cannot listen on {address}: the port is in use or the address is not this machine's")
    server.start()
    return server


def _credentials(certificates: tls.Files) -> Any:
    authority, certificate, key = (path.read_bytes() for path in certificates)
    return grpc.ssl_server_credentials([(key, certificate)], authority, require_client_auth=True)


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
