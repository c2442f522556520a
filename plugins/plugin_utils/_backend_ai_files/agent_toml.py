# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The agent's own configuration file with the plugin in it; all else in the file stays as it is written. Pure."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

try:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError
except ImportError:
    # Agents alone need it on the control node.
    HAS_TOMLKIT = False
else:
    HAS_TOMLKIT = True

from ansible_collections.ipu.pod.plugins.module_utils._backend_ai_host.look import PACKAGE
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused

DEVICE, ORDER = "ipu", "allocation-order"
# The agent's own, which has no IPUs.
DEFAULT_ORDER = ("cuda", "rocm", "tpu", "cpu", "mem")
ALLOWED, BLOCKED = "allow-compute-plugins", "block-compute-plugins"


def with_plugin(text: str, path: str, scratch_root: str) -> str:
    """The text of an agent.toml that allows the plugin and gives out IPUs; without a ``scratch_root`` that stays.

    Raises:
        Refused: it is no TOML, forbids the plugin, or is of an agent without Docker; the sentence quotes no value.
            Or tomlkit is missing.
    """
    if not HAS_TOMLKIT:
        raise Refused("the control node has no Python package tomlkit; install it for the Python that runs Ansible")
    try:
        document = tomlkit.parse(text)
    except TOMLKitError as error:
        raise Refused(f"{path} is no TOML ({type(error).__name__}, see `python3 -m tomllib`); correct it") from None
    agent = _table(document, "agent", path)
    if agent.get("backend", agent.get("mode", "docker")) != "docker":
        raise Refused(f"{path}: [agent] backend is not docker, and IPUs are for Docker's containers alone; set docker")
    if _has(agent, BLOCKED, path):
        raise Refused(f"{path}: [agent] {BLOCKED} has {PACKAGE}; remove it there")
    if not _has(agent, ALLOWED, path):
        # With comments and line breaks of a list that is there.
        agent.setdefault(ALLOWED, tomlkit.array()).append(PACKAGE)
    resource = _table(document, "resource", path)
    if DEVICE not in _names(resource, "resource", ORDER, path, DEFAULT_ORDER):
        # An agent cannot give out a device that has no place in there.
        if ORDER in resource:
            resource[ORDER].insert(0, DEVICE)
        else:
            resource[ORDER] = [DEVICE, *DEFAULT_ORDER]
    container = _table(document, "container", path)
    if scratch_root and container.get("scratch-root") != scratch_root:
        container["scratch-root"] = scratch_root
    return tomlkit.dumps(document)


def _table(document: MutableMapping[str, Any], name: str, path: str) -> MutableMapping[str, Any]:
    table = document.setdefault(name, tomlkit.table())
    if not isinstance(table, MutableMapping):
        raise Refused(f"{path}: {name} is no table; write [{name}]")
    return table


def _has(agent: Mapping[str, Any], key: str, path: str) -> bool:
    """Whether a list of plugins has ours."""
    return any(each == PACKAGE or PACKAGE.startswith(f"{each}.") for each in _names(agent, "agent", key, path))


def _names(table: Mapping[str, Any], name: str, key: str, path: str, default: Sequence[str] = ()) -> Sequence[str]:
    listed = table.get(key, list(default))
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise Refused(f"{path}: [{name}] {key} is no list of names; write it like {key} = []")
    return listed
