# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The functions of the commands: each asks the controller, and gives the reply as JSON and as text."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from podsim.vipu import cli_output as output
from podsim.vipu import ipuof_files
from podsim.vipu.cli_client import Controller
from podsim.vipu.cli_grammar import Invocation, UsageError
from podsim.vipu.cli_settings import write_user_file
from podsim.vipu.errors import Refused, conflict, unknown

_POLL_INTERVAL = 0.05
_ROUTING = {name: f"IRT_{name.upper()}" for name in ("dnc", "swnc", "btnc", "ringswnc")}
_GW_ROUTING = {name: f"GRT_{name.upper()}" for name in ("ring", "swring")}
# That c2-compatible is this one is assumed.
_SYNC_TYPES = {
    "c2-compatible": "ST_GS2_DEFAULT",
    "pod-native-default": "ST_POD_NATIVE_DEFAULT",
    "pod-native-replicated-pipeline": "ST_POD_NATIVE_REPLICATED_PIPELINE",
}


class Result(NamedTuple):
    """The result of a command: JSON for --showjson, text otherwise; `good` false is exit code 1."""

    json: dict[str, Any]
    text: str
    good: bool = True


class Session(NamedTuple):
    """The environment of a command. `progress` shows text at once, to people only."""

    controller: Controller
    admin: bool
    home: Path
    progress: Callable[[str], None]


def run(invocation: Invocation, session: Session) -> Result:
    """Carries out a command. Raises Refused, Unreachable, SettingsError or UsageError."""
    verb, entity = invocation.verb, invocation.entity
    own = _OWN.get((verb, entity))
    if own:
        return own(invocation, session)
    if verb == "list":
        reply = session.controller.call(f"List{entity.capitalize()}s", {})
        return Result(reply, _LIST_TEXT[entity](reply[f"{entity}s"]))
    if verb == "get":
        reply = session.controller.call(f"Get{entity.capitalize()}", {"id": invocation.name})
        return Result(reply, _GET_TEXT[entity](reply[entity]))
    reply = session.controller.call(f"Remove{entity.capitalize()}", {"id": invocation.name})
    return Result(reply, success(invocation))


def success(invocation: Invocation) -> str:
    """The line that ends every command that changes something."""
    return f"{invocation.verb} {invocation.entity} ({invocation.name}): success."


def _create_agent(invocation: Invocation, session: Session) -> Result:
    flags = invocation.flags
    request = {"id": invocation.name, "host": flags["host"], "port": flags.get("port", 8080)}
    return Result(session.controller.call("CreateAgent", request), success(invocation))


def _get_agent(invocation: Invocation, session: Session) -> Result:
    request = {"id": invocation.name}
    if invocation.settings.get("showjson"):
        return Result(session.controller.call("GetAgent", request), "")
    about = session.controller.call("DescribeAgent", request)
    return Result({}, output.agent_text(about["rows"], about["ipus"]))


def _discover_agent(_invocation: Invocation, session: Session) -> Result:
    reply = session.controller.call("DiscoverAgents", {})
    return Result(reply, output.discovered_text(reply["discovered_agents"]))


def _create_cluster(invocation: Invocation, session: Session) -> Result:
    flags = invocation.flags
    request = {
        "id": invocation.name,
        "agents": flags["agents"],
        "topology": flags.get("topology", ""),
        "num_ipulink_domains": flags.get("num-ipulinkdomains", 0),
        "cluster_topology": flags.get("cluster-topology", ""),
    }
    return Result(session.controller.call("CreateCluster", request), success(invocation))


def _test_cluster(invocation: Invocation, session: Session) -> Result:
    reply = session.controller.call("TestCluster", {"id": invocation.name})
    good = all(test["good"] for test in reply["tests"])
    return Result(reply, output.cluster_test_text(reply["tests"]), good)


def _create_allocation(invocation: Invocation, session: Session) -> Result:
    flags = invocation.flags
    wanted: dict[str, Any] = {name: flags[name] for name in ("size", "agents", "cluster") if name in flags}
    if flags.get("options"):
        reply = session.controller.call("ListAllocationOptions", wanted)
        return Result(reply, output.options_text(reply["options"]))
    reply = session.controller.call("CreateAllocation", {"id": invocation.name, **wanted})
    return Result(reply, success(invocation))


def _create_partition(invocation: Invocation, session: Session) -> Result:
    call, name = session.controller.call, invocation.name
    request = _partition_request(name, invocation.flags)
    session.progress("Please be patient. This operation can take several seconds\n")
    call("CreatePartition", request)
    _wait_active(name, session)
    if not session.admin:
        config = call("GetPartitionIpuofConfig", {"partition_id": name})
        ipuof_files.write(session.home, name, config["ipuof_config"])
    return Result({"partition": _partition(name, session)}, success(invocation))


def _get_partition(invocation: Invocation, session: Session) -> Result:
    flags, name = invocation.flags, invocation.name
    if not flags.get("ipuof-configs"):
        if "gcd" in flags:
            raise UsageError("--gcd needs --ipuof-configs")
        partition = _partition(name, session)
        # That the real tool shows the status of the user API with it is assumed.
        status = session.controller.call("GetPartitionStatus", {"partition_id": name})["status"]
        return Result({"partition": partition, "status": status}, output.partition_text(partition, status["errors"]))
    request: dict[str, Any] = {"partition_id": name}
    if "gcd" in flags:
        request["gcd_id"] = {"id": flags["gcd"]}
    reply = session.controller.call("GetPartitionIpuofConfig", request)
    gcds = reply["ipuof_config"]["gcd_configs"]
    if "gcd" in flags:
        return Result(reply, output.as_json(gcds[0]))
    # Without --gcd the real tool has one line before the JSON; what it says is not published.
    texts = [f"IPUoF configuration of partition {name}, GCD {n}:\n{output.as_json(gcd)}" for n, gcd in enumerate(gcds)]
    return Result(reply, "\n".join(texts))


def _list_partitions(invocation: Invocation, session: Session) -> Result:
    request = {"allocation_id": invocation.flags.get("allocation", "")}
    reply = session.controller.call("ListPartitions", request)
    return Result(reply, output.partitions_text(reply["partitions"], session.admin))


def _remove_partition(invocation: Invocation, session: Session) -> Result:
    request = {"partition_id": invocation.name, "force": bool(invocation.flags.get("force"))}
    session.progress("Please be patient. This operation can take several seconds\n")
    session.controller.call("RemovePartition", request)
    _wait_gone(invocation.name, session)
    if not session.admin:
        ipuof_files.remove(session.home, invocation.name)
    return Result({}, success(invocation))


def _reset_partition(invocation: Invocation, session: Session) -> Result:
    request = {"partition_id": invocation.name, "relocatable": bool(invocation.flags.get("relocatable"))}
    session.progress("Please be patient. This operation can take several seconds\n")
    session.controller.call("ResetPartition", request)
    _wait_active(invocation.name, session)
    return Result({}, success(invocation))


def _list_ipu_attrs(invocation: Invocation, session: Session) -> Result:
    reply = session.controller.call("ListIPUAttributes", {"agents": invocation.flags.get("agents", [])})
    return Result(reply, output.attributes_text(reply["entries"]))


def _create_user(invocation: Invocation, session: Session) -> Result:
    name = invocation.name
    request = {"id": name, "allocations": invocation.flags.get("allocations", [])}
    reply = session.controller.call("CreateUser", request)
    path = Path(f"{name}.vipu-cli.hcl")
    write_user_file(path, session.controller.settings.host, name, reply["access_key"])
    text = (
        f"{success(invocation)} Access key is '{reply['access_key']}'.\n"
        f"vipu configuration file for the user '{name}' written: {path}\n"
        f"Use 'vipu --config {path}' to switch to the user context."
    )
    return Result(reply, text)


def _partition(name: str, session: Session) -> dict[str, Any]:
    """The partition itself: the published API has a list of them only."""
    for partition in session.controller.call("ListPartitions", {})["partitions"]:
        if partition["id"] == name:
            return dict(partition)
    raise unknown("partition", name)


def _wait_active(name: str, session: Session) -> None:
    while True:
        status = session.controller.call("GetPartitionStatus", {"partition_id": name})["status"]
        if status["ready_state"] == "PS_ACTIVE":
            session.progress("\n")
            return
        if status["ready_state"] == "PS_ERROR":
            session.progress("\n")
            raise conflict(f"partition '{name}' ended in PS_ERROR: {'; '.join(status['errors'])}")
        session.progress(".")
        time.sleep(_POLL_INTERVAL)


def _wait_gone(name: str, session: Session) -> None:
    while True:
        session.progress(".")
        try:
            session.controller.call("GetPartitionStatus", {"partition_id": name})
        except Refused as refusal:
            session.progress("\n")
            if refusal.code != "NOT_FOUND":
                raise
            return
        time.sleep(_POLL_INTERVAL)


def _partition_request(name: str, flags: dict[str, Any]) -> dict[str, Any]:
    """A CreatePartitionRequest."""
    requirements = {"id": name, "size": flags["size"]}
    fields = {
        "allocation": "allocation_id",
        "cluster": "cluster_id",
        "num-gcds": "num_gcds",
        "gcd-sync-replicas": "num_replicas",
        "reconfigurable": "reconfigurable",
        "index": "index",
    }
    requirements.update({field: flags[flag] for flag, field in fields.items() if flag in flags})
    choices = {
        "routing": ("ipulink_routing_type", _ROUTING),
        "gw-routing": ("gw_routing_type", _GW_ROUTING),
        "sync-type": ("sync_type", _SYNC_TYPES),
    }
    for flag, (field, values) in choices.items():
        if flag in flags:
            requirements[field] = _choice(flag, flags[flag], values)
    return {
        "requirements": requirements,
        "disable_auto_reset": bool(flags.get("disable-auto-reset")),
        "relocatable": bool(flags.get("relocatable")),
    }


def _choice(flag: str, value: str, values: dict[str, str]) -> str:
    if value.lower() not in values:
        raise UsageError(f"invalid argument '{value}' for --{flag}: use {', '.join(values)}")
    return values[value.lower()]


_OWN: dict[tuple[str, str], Callable[[Invocation, Session], Result]] = {
    ("create", "agent"): _create_agent,
    ("get", "agent"): _get_agent,
    ("discover", "agent"): _discover_agent,
    ("create", "cluster"): _create_cluster,
    ("test", "cluster"): _test_cluster,
    ("create", "allocation"): _create_allocation,
    ("create", "partition"): _create_partition,
    ("get", "partition"): _get_partition,
    ("list", "partition"): _list_partitions,
    ("remove", "partition"): _remove_partition,
    ("reset", "partition"): _reset_partition,
    ("list", "ipu-attrs"): _list_ipu_attrs,
    ("create", "user"): _create_user,
}

_LIST_TEXT: dict[str, Callable[[Any], str]] = {
    "agent": output.agents_text,
    "cluster": output.clusters_text,
    "allocation": output.allocations_text,
    "user": output.users_text,
}

_GET_TEXT: dict[str, Callable[[Any], str]] = {
    "cluster": output.cluster_text,
    "allocation": output.allocation_text,
    "user": output.user_text,
}
