# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of `vipu-admin` and `vipu`, as data, and the parser for them.

<program> [global options] <verb> <entity> [<id>] [options]      options may stand anywhere
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from podsim.vipu.releases import has_allocation_by_agents


class UsageError(Exception):
    """A command line that is not understood."""


class Flag(NamedTuple):
    """An option: its kind is text, number, list (separated by commas) or switch."""

    kind: str
    help: str


class Command(NamedTuple):
    """The arguments that one verb takes for one entity; `needs` are the required flags."""

    takes_id: bool
    flags: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


class Invocation(NamedTuple):
    """A parsed command line; verb and entity are empty for the global switches. `name` is '' without an id."""

    verb: str
    entity: str
    name: str
    flags: dict[str, Any]
    settings: dict[str, Any]


SHORT = {"-H": "--api-host", "-P": "--api-port", "-h": "--help"}

GLOBAL_FLAGS = {
    "api-host": Flag("text", "controller's host (-H)"),
    "api-port": Flag("number", "controller's port (-P)"),
    "api-user-id": Flag("text", "user id, in secure mode"),
    "api-access-key": Flag("text", "access key, in secure mode"),
    "tls-certs": Flag("text", "directory of the client's TLS certificates, in secure mode"),
    "config": Flag("text", "configuration file, instead of /etc/vipu/vipu-cli.hcl"),
    "showjson": Flag("switch", "print JSON"),
    "version": Flag("switch", "print this program's version"),
    "server-version": Flag("switch", "print the controller's version"),
    "help": Flag("switch", "print this (-h)"),
}

FLAGS = {
    "host": Flag("text", "address or name of the IPU-Machine's gateway"),
    "port": Flag("number", "port of the agent (default 8080)"),
    "agents": Flag("list", "agents"),
    "topology": Flag("text", "IPU-Link topology: mesh or torus"),
    "num-ipulinkdomains": Flag("number", "number of IPU-Link domains (default 1)"),
    "cluster-topology": Flag("text", "topology of the IPU-Link domains: looped"),
    "size": Flag("number", "number of IPUs"),
    "cluster": Flag("text", "cluster to use"),
    "options": Flag("switch", "only show where the allocation could be"),
    "allocation": Flag("text", "allocation to use"),
    "num-gcds": Flag("number", "number of GCDs (default 1)"),
    "gcd-sync-replicas": Flag("number", "number of replicas over all GCDs (default one per GCD)"),
    "routing": Flag("text", "IPU-Link routing: dnc, swnc, btnc or ringswnc"),
    "gw-routing": Flag("text", "gateway routing: ring or swring"),
    "sync-type": Flag("text", "c2-compatible, pod-native-default or pod-native-replicated-pipeline"),
    "reconfigurable": Flag("switch", "make it a reconfigurable partition"),
    "index": Flag("number", "take the n-th place of that size"),
    "relocatable": Flag("switch", "may move to other IPUs on errors"),
    "disable-auto-reset": Flag("switch", "do not reset by itself after errors"),
    "gcd": Flag("number", "one GCD only"),
    "ipuof-configs": Flag("switch", "print the IPUoF configuration"),
    "force": Flag("switch", "ignore errors"),
    "allocations": Flag("list", "allocations that the user may use"),
}

_NEW_PARTITION = (
    *("size", "allocation", "cluster", "num-gcds", "gcd-sync-replicas", "routing", "gw-routing", "sync-type"),
    *("reconfigurable", "relocatable", "disable-auto-reset"),
)

USER_COMMANDS = {
    ("create", "partition"): Command(True, _NEW_PARTITION, ("size",)),
    ("get", "partition"): Command(True, ("gcd", "ipuof-configs")),
    ("list", "partition"): Command(False, ("allocation",)),
    ("remove", "partition"): Command(True, ("force",)),
    ("reset", "partition"): Command(True, ("relocatable",)),
    ("get", "allocation"): Command(True),
    ("list", "allocation"): Command(False),
    ("list", "ipu-attrs"): Command(False, ("agents",)),
}

ADMIN_COMMANDS = {
    ("create", "agent"): Command(True, ("host", "port"), ("host",)),
    ("get", "agent"): Command(True),
    ("list", "agent"): Command(False),
    ("remove", "agent"): Command(True),
    ("discover", "agent"): Command(False),
    ("create", "cluster"): Command(True, ("agents", "topology", "num-ipulinkdomains", "cluster-topology"), ("agents",)),
    ("get", "cluster"): Command(True),
    ("list", "cluster"): Command(False),
    ("remove", "cluster"): Command(True),
    ("test", "cluster"): Command(True),
    ("create", "allocation"): Command(True, ("size", "agents", "cluster", "options")),
    ("remove", "allocation"): Command(True),
    **USER_COMMANDS,
    ("create", "partition"): Command(True, (*_NEW_PARTITION, "index"), ("size",)),
    ("create", "user"): Command(True, ("allocations",)),
    ("get", "user"): Command(True),
    ("list", "user"): Command(False),
    ("remove", "user"): Command(True),
}

Commands = dict[tuple[str, str], Command]


def commands(program: str, release: str) -> Commands:
    """The commands of a program (`vipu-admin` or `vipu`) of that release."""
    if program == "vipu":
        return USER_COMMANDS
    if has_allocation_by_agents(release):
        return ADMIN_COMMANDS
    return {**ADMIN_COMMANDS, ("create", "allocation"): Command(True, ("size", "cluster", "options"), ("size",))}


def parse(program: str, known: Commands, arguments: Sequence[str]) -> Invocation:
    """The command line's meaning. Raises UsageError."""
    words, flags, settings = _split(arguments)
    verb, entity, *names = [*words, "", ""] if len(words) < 2 else words
    if (verb, entity) not in known:
        entity = entity.removesuffix("s")
    if any(settings.get(name) for name in ("help", "version", "server-version")):
        return Invocation(verb, entity, "", {}, settings)
    if len(words) < 2:
        raise UsageError(f"a verb and an entity are missing: see '{program} --help'")
    if (verb, entity) not in known:
        what = (
            f"entity '{words[1]}' for '{verb}'" if verb in {known_verb for known_verb, _ in known} else f"verb '{verb}'"
        )
        raise UsageError(f"unknown {what}: see '{program} --help'")
    _check(f"{verb} {entity}", known[(verb, entity)], names, flags)
    return Invocation(verb, entity, names[0] if names else "", flags, settings)


def _check(what: str, command: Command, names: Sequence[str], flags: dict[str, Any]) -> None:
    for flag in flags:
        if flag not in command.flags:
            raise UsageError(f"unknown flag: --{flag}")
    for flag in command.needs:
        if flag not in flags:
            raise UsageError(f"{what} needs --{flag}")
    wanted = 1 if command.takes_id and not flags.get("options") else 0
    if len(names) != wanted:
        raise UsageError(f"{what} takes {'one id' if wanted else 'no id'}, not {len(names)}")


def usage(program: str, known: Commands, verb: str, entity: str) -> str:
    """The help text: of one command if it is given, of the program otherwise."""
    if (verb, entity) in known:
        command = known[(verb, entity)]
        head = f"Usage: {program} {verb} {entity}{' <id>' if command.takes_id else ''} [options]"
        own = [_flag_line(name, FLAGS[name]) for name in command.flags]
    else:
        head = f"Usage: {program} [global options] <verb> <entity> [<id>] [options]"
        own = [f"  {verb} {entity}" for verb, entity in sorted(known)]
    global_lines = [_flag_line(name, flag) for name, flag in GLOBAL_FLAGS.items()]
    return "\n".join([head, "", *own, "", "Global options:", *global_lines])


def _flag_line(name: str, flag: Flag) -> str:
    value = "" if flag.kind == "switch" else f" <{flag.kind}>"
    return f"  --{name + value:<30} {flag.help}"


def _split(arguments: Sequence[str]) -> tuple[list[str], dict[str, Any], dict[str, Any]]:
    """Words, the command's flags, and the global ones."""
    words: list[str] = []
    flags: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if not argument.startswith("-"):
            words.append(argument)
            continue
        given, has_value, value = argument.partition("=")
        name = SHORT.get(given, given).removeprefix("--")
        flag = GLOBAL_FLAGS.get(name) or FLAGS.get(name)
        if flag is None or (given.startswith("-") and not given.startswith("--") and given not in SHORT):
            raise UsageError(f"unknown flag: {given}")
        if flag.kind == "switch":
            if has_value:
                raise UsageError(f"flag takes no argument: {given}")
        elif not has_value:
            if not rest:
                raise UsageError(f"flag needs an argument: {given}")
            value = rest.pop(0)
        (settings if name in GLOBAL_FLAGS else flags)[name] = _value(given, flag.kind, value)
    return words, flags, settings


def _value(given: str, kind: str, text: str) -> Any:
    if kind == "switch":
        return True
    if kind == "list":
        return [item for item in text.split(",") if item]
    if kind == "number":
        if not (text.isascii() and text.isdigit()):
            raise UsageError(f"invalid argument '{text}' for {given}: use a whole number")
        return int(text)
    return text
