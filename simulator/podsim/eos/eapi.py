# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""eAPI: JSON-RPC requests in, results or EOS's error shape out."""

from __future__ import annotations

from typing import Any

from podsim.eos.cli import Cli
from podsim.eos.commands import run_command
from podsim.eos.errors import EosError, InternalError
from podsim.eos.reply import as_json
from podsim.eos.switch import Switch

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602

_PARAMETERS = {"version", "cmds", "format", "timestamps", "autoComplete", "expandAliases"}
_READING = {"show", "enable", "disable", "dir", "terminal", "exit", "end"}


class BadRequest(Exception):
    """A request that is no valid `runCmds` call; `code` is the JSON-RPC error code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def respond(switch: Switch, user: str, request: Any) -> dict[str, Any]:
    """The response to a decoded JSON-RPC request of that user. Takes the switch's lock."""
    request_id = request.get("id") if isinstance(request, dict) else None
    try:
        params = _parameters(request)
    except BadRequest as error:
        return refuse(request_id, error.code, str(error))
    with switch.lock:
        outcome = _run(Cli(switch, user, abbreviate=bool(params.get("autoComplete"))), params)
        try:
            switch.put_into_effect()
        except InternalError as error:
            return refuse(request_id, error.code, str(error))
    return {"jsonrpc": "2.0", "id": request_id, **outcome}


def refuse(request_id: Any, code: int, message: str) -> dict[str, Any]:
    """The response to a request that is no valid call."""
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}


def commands(request: Any) -> list[str]:
    """The commands of a request without their inputs, which may be secret; none if it is no valid call."""
    try:
        return [_command(each)[0] for each in _parameters(request)["cmds"]]
    except BadRequest:
        return []


def writes(lines: list[str]) -> bool:
    """Whether any of these commands touches a configuration or a session."""
    return any(line.split()[0] not in _READING for line in lines if line.strip())


def _run(cli: Cli, params: dict[str, Any]) -> dict[str, Any]:
    text_wanted = params.get("format", "json") == "text"
    results: list[dict[str, Any]] = []
    for number, entry in enumerate(params["cmds"], 1):
        line, text = _command(entry)
        try:
            reply = run_command(cli, line, text)
            results.append({"output": reply.text} if text_wanted else as_json(reply))
        except EosError as error:
            message = f"CLI command {number} of {len(params['cmds'])} '{line}' failed: {error.summary}"
            return {"error": {"code": error.code, "message": message, "data": [*results, {"errors": [str(error)]}]}}
    return {"result": results}


def _parameters(request: Any) -> dict[str, Any]:
    """The checked parameters of a `runCmds` call."""
    if not isinstance(request, dict) or request.get("jsonrpc") != "2.0":
        raise BadRequest(INVALID_REQUEST, "the request is no JSON-RPC 2.0 object")
    if request.get("method") != "runCmds":
        raise BadRequest(METHOD_NOT_FOUND, f"Method not found: '{request.get('method')}'")
    params = request.get("params")
    if not isinstance(params, dict):
        raise BadRequest(INVALID_PARAMS, "params must be an object")
    if unknown := sorted(set(params) - _PARAMETERS):
        raise BadRequest(INVALID_PARAMS, f"runCmds() got an unexpected keyword argument '{unknown[0]}'")
    if params.get("version") not in (1, "latest"):
        raise BadRequest(INVALID_PARAMS, f"Invalid command version: {params.get('version')!r}")
    if params.get("format", "json") not in ("json", "text"):
        raise BadRequest(INVALID_PARAMS, f"Invalid format: {params['format']!r}")
    if not isinstance(params.get("cmds"), list):
        raise BadRequest(INVALID_PARAMS, "cmds must be a list of commands")
    for entry in params["cmds"]:
        _command(entry)
    return params


def _command(entry: Any) -> tuple[str, str | None]:
    """The command line and its input."""
    if isinstance(entry, str):
        return entry, None
    if isinstance(entry, dict) and isinstance(entry.get("cmd"), str) and set(entry) <= {"cmd", "input", "revision"}:
        return entry["cmd"], entry.get("input")
    raise BadRequest(INVALID_PARAMS, f"no command: {entry!r}")
