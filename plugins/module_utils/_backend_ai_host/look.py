# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads what a server has of Backend.AI's agent. Changes nothing."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Sequence

from .._host.programs import Programs
from .._plan.converge import NOT_UNDERSTOOD, DeviceError

RDMA_DEVICES = "/dev/infiniband"
# Every container of a session bears it.
KERNEL = "ai.backend.kernel-id"
# Comes before /etc/backend.ai, for the settings of plugins, too, as do the working directory and root's own settings.
CONFIG_VARIABLE, SETTINGS_NAME = "BACKEND_CONFIG_FILE", "ipu.toml"
# Where Backend.AI looks for accelerators, and what IPUs are called there.
GROUP, PLUGIN = "backendai_accelerator_v21", "ipu"
PACKAGE = "ai.backend.accelerator.ipu"
# Run by the agent's own Python: which plugins it would load, and the archive that each was installed from.
ASK_PLUGINS = f"""
import json
from importlib.metadata import entry_points

print(json.dumps([
    {{"value": each.value, "version": each.dist.version, "origin": each.dist.read_text("direct_url.json") or "null",
      "records": [str(file.locate()) for file in each.dist.files or () if file.name == "RECORD"]}}
    for each in entry_points(group="{GROUP}", name="{PLUGIN}")
]))
"""

# Runs a program with these variables beside the usual ones.
Run = Callable[[Sequence[str], Mapping[str, str]], "tuple[int, str, str]"]
Fields = Mapping[str, Any]


@dataclass(frozen=True)
class Agent:
    """How the agent is installed.

    Args:
        service: its unit.
        python: the Python of its virtual environment.
        environment: its own variables, with which ``gc-monitor`` is found.
        configuration: the IPUoF configuration of its partition; ``copy`` is what it reads of that.
        reads: the files that it reads when it starts.
    """

    service: str
    python: str
    environment: Mapping[str, str]
    configuration: str
    copy: str
    reads: Sequence[str]


def look(agent: Agent, programs: Programs, run: Run) -> dict[str, Any]:
    """Everything that the role has to know; what does not answer has a ``message`` in its place."""
    plugin = _or_message(lambda: _plugin(agent.python, programs))
    return {
        "unit": _or_message(lambda: _unit(agent.service, [*agent.reads, *plugin.get("records", [])], programs)),
        "plugin": {name: value for name, value in plugin.items() if name != "records"},
        "docker": _or_message(lambda: _docker(programs)),
        "ipus": _or_message(lambda: _ipus(agent, run)),
        "has_rdma": os.path.isdir(RDMA_DEVICES),
    }


def _or_message(ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return ask()
    except NOT_UNDERSTOOD as error:
        return {"message": f"the answer is not understood: {error!r}"}
    except (DeviceError, OSError) as error:
        return {"message": str(error)}


def _unit(service: str, reads: Sequence[str], programs: Programs) -> dict[str, Any]:
    """Whether the agent is installed and runs, and what it reads when it starts that is newer than its start."""
    names = ("LoadState", "ActiveState", "ActiveEnterTimestampMonotonic", "WorkingDirectory", "Environment")
    shown = programs.call(["systemctl", "show", service, *(f"--property={name}" for name in names)])
    values = dict(line.split("=", 1) for line in shown.splitlines() if "=" in line)
    started = time.time() - time.monotonic() + int(values["ActiveEnterTimestampMonotonic"]) / 1e6
    is_active = values["ActiveState"] == "active"
    newer = [path for path in reads if os.path.exists(path) and os.path.getmtime(path) > started]
    return {
        "is_installed": values["LoadState"] == "loaded",
        "is_active": is_active,
        "newer": newer if is_active else [],
        "hidden_by": _hidden_by(values),
    }


def _hidden_by(unit: Mapping[str, str]) -> list[str]:
    """What Backend.AI reads instead of a file in /etc/backend.ai."""
    variables = [each for each in unit.get("Environment", "").split() if each.startswith(f"{CONFIG_VARIABLE}=")]
    places = [unit.get("WorkingDirectory") or "/", os.path.expanduser("~/.config/backend.ai")]
    files = [os.path.join(place, SETTINGS_NAME) for place in places]
    return [*variables, *(path for path in files if os.path.isfile(path))]


def _plugin(python: str, programs: Programs) -> dict[str, Any]:
    """The plugin for IPUs, empty without one; ``sha256`` is that of the wheel that it was installed from."""
    found = json.loads(programs.call([python, "-c", ASK_PLUGINS]))
    if not found:
        return {}
    origin = json.loads(found[0]["origin"]) or {}
    digest = origin.get("archive_info", {}).get("hash", "")
    return {
        **{name: found[0][name] for name in ("value", "version", "records")},
        "sha256": digest[len("sha256=") :] if digest.startswith("sha256=") else "",
    }


def _docker(programs: Programs) -> dict[str, Any]:
    """The networks by name, each with its IPv4 subnets, the containers of sessions, and what Docker is run with."""
    security = json.loads(programs.call(["docker", "info", "--format", "{{json .SecurityOptions}}"])) or []
    listed = programs.call(["docker", "network", "ls", "--quiet", "--no-trunc"]).split()
    networks = {}
    for each in json.loads(programs.call(["docker", "network", "inspect", *listed])):
        subnets = [config.get("Subnet", "") for config in each["IPAM"].get("Config") or []]
        networks[each["Name"]] = [subnet for subnet in subnets if subnet and ":" not in subnet]
    sessions = programs.call(["docker", "ps", "--filter", f"label={KERNEL}", "--format", "{{.Names}}"]).split()
    return {"security": [str(each) for each in security], "networks": networks, "sessions": sorted(sessions)}


def _ipus(agent: Agent, run: Run) -> dict[str, Any]:
    """The IPUs of the partition in its file, and those that ``gc-monitor`` shows: the plugin puts both together."""
    text = _text(agent.configuration)
    declared = json.loads(text)["devices"]
    argv = ["gc-monitor", "-j"]
    status, output, errors = run(argv, {**agent.environment, "IPUOF_CONFIG_PATH": agent.configuration})
    if status:
        raise DeviceError(f"{' '.join(argv)}: {' '.join((errors or output).split()) or f'exit status {status}'}")
    shown = [f"{card['IPU-M']}:{ipu['PCIe ID']}" for card in json.loads(output)["cards"] for ipu in card["ipus"]]
    return {
        "in_file": sorted(f"{each['ip']}:{each['device_id']}" for each in declared),
        "shown": sorted(shown),
        "copied": "missing" if not os.path.exists(agent.copy) else "same" if _text(agent.copy) == text else "other",
    }


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
