# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of roles beside a pods.yml, by what the roles say of their options. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._rnic.declared import INTERFACES
from ansible_collections.ipu.pod.plugins.module_utils._roce.declared import INTERFACES as ROCE_INTERFACES

from .._drift.ignore_rules import parse_rules
from .._pod.kinds import Finding
from .._pod.wording import meant, shown, some, unknown

Spec = Mapping[str, Any]
Options = Mapping[str, Spec]

IGNORED_DRIFT, SLURM_VPOD = "drift_ignore", "slurm_vpod"
# The options of a role that are those of a module.
OF_MODULES = {
    "poplar_server_interfaces": INTERFACES,
    "poplar_server_more_interfaces": INTERFACES,
    "poplar_server_roce": ROCE_INTERFACES,
}
WORDS = {
    "bool": "yes or no",
    "dict": "a mapping",
    "int": "a whole number",
    "list": "a list",
    "path": "a path",
    "str": "a text",
}
# As Ansible reads them.
FLAGS = ("yes", "no", "on", "off", "true", "false", "y", "n", "t", "f", "1", "0")


def options_of(argument_specs: Iterable[str]) -> dict[str, Spec]:
    """The options of roles by name, from the texts of their ``argument_specs.yml``."""
    found: dict[str, Spec] = {}
    for text in argument_specs:
        for entry in yaml.safe_load(text)["argument_specs"].values():
            found.update(entry.get("options") or {})
    return {name: {**spec, **OF_MODULES.get(name, {})} for name, spec in found.items()}


def refusals(variables: Mapping[str, Any], options: Options, vpods: Mapping[str, Any]) -> Iterator[Finding]:
    """What a role would refuse of a host's ``variables``, by their names; ``vpods`` are those of pods.yml."""
    for name, value in variables.items():
        if name == IGNORED_DRIFT:
            yield from _of_rules(value)
        elif name == SLURM_VPOD and isinstance(value, str) and value not in vpods:
            yield name, unknown(value, "vPOD", vpods)
        elif name in options:
            yield from _problems(value, options[name], name)


def slips(names: Iterable[str], options: Options, roles: Iterable[str]) -> Iterator[Finding]:
    """Variables that no role knows, although they are called almost as one of a role's."""
    prefixes = tuple(f"{role}_" for role in roles)
    for name in names:
        if name not in options and name.startswith(prefixes) and (nearly := meant(name, options)):
            yield name, f"no role knows this variable{nearly}"


def by_hosts(findings: Mapping[str, list[Finding]]) -> list[str]:
    """One sentence for each finding, with the hosts that have it."""
    hosts: dict[Finding, list[str]] = {}
    for host, found in findings.items():
        for finding in found:
            hosts.setdefault(finding, []).append(host)
    return [f"{name}: {message} ({some(those, 3)})" for (name, message), those in hosts.items()]


def _of_rules(value: Any) -> Iterator[Finding]:
    try:
        parse_rules(value)
    except Refused as error:
        yield IGNORED_DRIFT, str(error).removeprefix(IGNORED_DRIFT).lstrip()


def _problems(value: Any, spec: Spec, path: str) -> Iterator[Finding]:
    kind = spec.get("type", "str")
    if value is None:
        return
    if not _is_of(value, kind, spec):
        # A text may hold a secret; a number, or a word where there is a choice, does not.
        said = "a text" if isinstance(value, str) and kind != "int" else shown(value)
        yield path, f"{said} is not {WORDS[kind]}"
    elif kind == "int" and int(float(value)) < 0:
        yield path, f"{value} is less than 0; use 0 or more"
    elif kind == "list":
        inner = {**spec, "type": spec.get("elements", "raw"), "elements": None}
        for index, item in enumerate(value if isinstance(value, list) else ()):
            yield from _problems(item, inner, f"{path}[{index}]")
    elif kind == "dict" and isinstance(value, dict):
        yield from _in_mapping(value, spec["options"], path) if spec.get("options") else ()
    elif "choices" in spec and str(value) not in map(str, spec["choices"]):
        known = ", ".join(map(str, spec["choices"]))
        yield path, f"{shown(value)} is not known{meant(value, spec['choices'])}; use one of {known}"


def _in_mapping(value: Mapping[str, Any], options: Options, path: str) -> Iterator[Finding]:
    for name, spec in options.items():
        if spec.get("required") and value.get(name) is None:
            yield f"{path}.{name}", "is missing; it has to be declared"
    for name, item in value.items():
        if name not in options:
            yield f"{path}.{name}", f"is not a known key{meant(name, options)}; known are {', '.join(sorted(options))}"
        else:
            yield from _problems(item, options[name], f"{path}.{name}")


def _is_of(value: Any, kind: str, spec: Spec) -> bool:
    """Whether Ansible would take it, which also reads texts with commas as lists, and with ``=`` as mappings."""
    if kind == "bool":
        return str(value).lower() in FLAGS
    if kind == "int":
        return not isinstance(value, bool) and re.fullmatch(r"-?[0-9]+(\.0+)?", str(value)) is not None
    if kind == "list":
        return isinstance(value, list) or (isinstance(value, (str, int, float)) and spec.get("elements") != "dict")
    if kind == "dict":
        return isinstance(value, dict) or (isinstance(value, str) and ("=" in value or value.startswith("{")))
    return kind not in WORDS or not isinstance(value, (list, dict))
