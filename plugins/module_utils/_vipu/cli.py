# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The V-IPU controller through ``vipu-admin`` or ``vipu``, which every installation has.

Knows no Ansible: it is given ``run``.
"""

from __future__ import annotations

import json
import re
from typing import Any, Callable, Iterator, List, Sequence, Tuple, TypeVar

from .._plan.converge import NOT_UNDERSTOOD, DeviceError
from .._plan.steps import CREATE, Fields, State, Step
from .._text.line import encodable
from .dialect import ADMIN, COMMANDS
from .entities import AGENT, ALLOCATION, CLUSTER, ERROR, KINDS, PARTITION, USER, plural
from .rules import NAME
from .spelling import create_arguments, read_discovered, read_entity, read_partition_status, read_refusal

Answer = TypeVar("Answer")
Run = Callable[[List[str]], Tuple[int, str, str]]

# What the output may look like that is not understood.
VERSION = re.compile(r"^version: *v?(\d+(?:\.\d+)+)", re.MULTILINE)
ACCESS_KEY = re.compile(r"Access [Kk]ey is:? '?([^\s']+)'?")
# The same where a program speaks of it in another way, as JSON or as a configuration.
_KEY_IN_ANSWER = re.compile(r"""(Access [Kk]ey is:? |access[_-]key["']? ?[:=] ?)(["']?)[^\s"',]+""")


class NotDone(DeviceError):
    """A controller did not do what it was asked; ``answer`` is its message alone."""

    def __init__(self, message: str, answer: str) -> None:
        super().__init__(message)
        self.answer = answer
        self.reason = read_refusal(answer)


class Controller:
    """One controller's end-point, seen through a program.

    Args:
        run: runs a command and returns exit code, output and errors. It also brings the credentials, if any are
            needed (:data:`.dialect.ENVIRONMENT`).
        program: name or path of ``vipu-admin``, which takes the admin port, or ``vipu``, which takes the user port.
        options: further global options, for example ``["--tls-certs", "/etc/vipu/certs"]``.
        end_point: what the program is, :data:`.dialect.ADMIN` or :data:`.dialect.USERS`.
    """

    def __init__(
        self, run: Run, program: str, host: str, port: int, options: Sequence[str] = (), end_point: str = ADMIN
    ) -> None:
        self._run = run
        self._command = [program, "-H", host, "-P", str(port), *options]
        self._end_point = end_point
        self._by_agents: bool | None = None
        self._where = f"the V-IPU controller at {host}:{port}"

    @property
    def kinds(self) -> Sequence[str]:
        """The kinds of entities that this end-point can list, parents first."""
        return tuple(
            command.entity
            for command in COMMANDS
            if command.verb == "list" and command.entity in KINDS and self._end_point in command.programs
        )

    def read(self, kinds: Sequence[str] = KINDS) -> State:
        """Everything of these kinds, with one request per kind.

        Raises:
            DeviceError: no answer, or one that cannot be understood (never taken for an empty list).
        """
        return {kind: self._list(kind) for kind in kinds}

    def carry_out(self, step: Step) -> None:
        """Create or remove one entity and wait until the controller says it is done."""
        if step.action == CREATE:
            fields = {**(step.after or {}), **(step.once or {})}
            by_agents = step.kind == ALLOCATION and bool(fields.get("agents")) and self.allocates_by_agents()
            self._ask(create_arguments(step.kind, word(step.name), fields, by_agents))
        elif step.kind == PARTITION and (step.before or {}).get("status") == ERROR:
            # Nothing runs on it, and an agent of it that is down would be in the way.
            self.remove_partition_by_force(step.name)
        else:
            self._ask(["remove", step.kind, word(step.name)])

    def create_user(self, name: str, fields: Fields) -> str:
        """Create a user. Returns the access key, which is shown only now and belongs into no output.

        The program also writes ``NAME.vipu-cli.hcl``, with the key, into its working directory.
        """
        words = create_arguments(USER, word(name), fields)
        answer = self._ask(words)
        found = ACCESS_KEY.search(answer)
        if found is None:
            raise DeviceError(f"{self._where}: `{self._spelled(words)}` succeeded, but its answer has no access key")
        return found[1]

    def remove_partition_by_force(self, name: str) -> None:
        """Remove a partition whatever state it and its agents are in. Whatever runs on it ends."""
        self._ask(["remove", PARTITION, word(name), "--force"])

    def test_cluster(self, name: str) -> tuple[bool, str]:
        """Test a cluster's cabling and links. Returns whether all is well, and the report in the program's words."""
        words = ["test", CLUSTER, word(name)]
        code, output, errors = self._run(self._command + words)
        if not output.strip():
            raise DeviceError(f"{self._where}: `{self._spelled(words)}` gave no report: {errors.strip() or code}")
        return code == 0, output

    def reset_partition(self, name: str) -> None:
        """Reset a partition and wait until it is ACTIVE again. Whatever runs on it ends."""
        self._ask(["reset", PARTITION, word(name)])

    def allocates_by_agents(self) -> bool:
        """True if this installation can make an allocation of given agents, by its own help text."""
        if self._by_agents is None:
            self._by_agents = "--agents" in (self.help("create", ALLOCATION) or "").split()
        return self._by_agents

    def help(self, verb: str, entity: str) -> str | None:
        """The program's help text for one of its commands; None if it has none. The controller is not asked."""
        code, output, _errors = self._run([*self._command, verb, entity, "--help"])
        return output if code == 0 else None

    def program_version(self) -> str:
        """The V-IPU release of the program itself, for example ``1.18.0``."""
        return self._understood(["--version"], _version)

    def json_fields(self, kind: str) -> list[str]:
        """The places that the JSON of a kind has, for example ``spec.host``; none if there is no such entity."""
        listed = self._understood(
            ["--showjson", "list", plural(kind)], lambda answer: list(_parsed(answer)[plural(kind)])
        )
        return sorted({place for entity in listed for place in _places(entity)})

    def partition_status(self, name: str) -> Fields:
        """``status`` of one partition; also ``operation``, ``errors`` and ``auto_resets``, if it shows them."""
        words = ["--showjson", "get", PARTITION, word(name)]
        return self._understood(words, lambda answer: _status(_parsed(answer)))

    def ipuof_configuration(self, name: str, gcd: int) -> dict[str, Any]:
        """The IPUoF configuration of one GCD of a partition: ``devices`` and ``attributes``."""
        words = ["get", PARTITION, word(name), "--gcd", str(gcd), "--ipuof-configs"]
        return self._understood(words, _configuration)

    def ipu_attributes(self) -> dict[str, dict[int, dict[str, str]]]:
        """Agent name to number of the IPU to its attributes."""
        return self._understood(["--showjson", "list", "ipu-attrs"], lambda answer: attributes_of(_parsed(answer)))

    def discovered_agents(self) -> list[Fields]:
        """``name`` (the id it would be added by), ``host`` and ``port`` of every agent that has announced itself.

        Raises:
            DeviceError: the controller does not listen for announcements, or does not answer.
        """
        return self._understood(["discover", AGENT], read_discovered)

    def server_version(self) -> str:
        """The controller's V-IPU release, for example ``1.18.0``."""
        return self._understood(["--server-version"], _version)

    def _list(self, kind: str) -> dict[str, Fields]:
        def entities(answer: str) -> dict[str, Fields]:
            listed = _parsed(answer)[plural(kind)]
            if not isinstance(listed, list):
                raise TypeError(f"{plural(kind)} {listed!r} is no list")
            return dict(read_entity(kind, entity) for entity in listed)

        return self._understood(["--showjson", "list", plural(kind)], entities)

    def _understood(self, words: list[str], read: Callable[[str], Answer]) -> Answer:
        answer = self._ask(words)
        try:
            return read(answer)
        except NOT_UNDERSTOOD as error:
            raise DeviceError(
                f"{self._where}: `{self._spelled(words)}` printed something that is not understood "
                f"({type(error).__name__} {error}): {_without_key(answer.strip())[:80]!r}"
            ) from error

    def _ask(self, words: list[str]) -> str:
        code, output, errors = self._run(self._command + words)
        if code != 0:
            answer = _without_key(errors.strip() or output.strip()) or f"exit code {code} without a word"
            raise NotDone(f"{self._where}: `{self._spelled(words)}` failed: {answer}", answer)
        return output

    def _spelled(self, words: list[str]) -> str:
        return f"{self._end_point} {' '.join(words)}"


def word(name: str) -> str:
    """The name as a word of a command. Raises NotDone: a program could take it for an option."""
    if not NAME.fullmatch(name):
        why = f"{name!r} is a name that a program could take for an option; remove by hand what has it"
        raise NotDone(why, why)
    return name


def _parsed(answer: str) -> Any:
    return encodable(json.loads(answer))


def _without_key(answer: str) -> str:
    return _KEY_IN_ANSWER.sub(r"\1\2(secret)", answer)


def attributes_of(reply: Any) -> dict[str, dict[int, dict[str, str]]]:
    """Agent name to number of the IPU to its attributes, from a ``ListIPUAttributesReply``."""
    return {
        entry["agent"]: {int(ipu): dict(found["attributes"]) for ipu, found in entry["ipu_attributes"].items()}
        for entry in reply["entries"]
    }


def _status(answer: Any) -> Fields:
    if "status" in answer:
        return read_partition_status(answer["status"])
    return {"status": read_entity(PARTITION, answer["partition"])[1]["status"]}


def _places(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _places(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        yield from _places(value[0], f"{path}[]")
    else:
        yield path


def _configuration(answer: str) -> dict[str, Any]:
    found = _parsed(answer)
    return {"devices": list(found["devices"]), "attributes": dict(found["attributes"])}


def _version(answer: str) -> str:
    found = VERSION.search(answer)
    if found is None:
        raise ValueError("there is no line `version: ...`")
    return found[1]
