# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the document in pods.yml to a :class:`Declaration`: its keys, their defaults, the contradictions inside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import canonical_port, port_name

from .._pod.clouds import (
    NO_NUMA,
    Cloud,
    CloudShare,
    ControllerMachine,
    Image,
    Machine,
    ManagementNetwork,
    Storage,
)
from .._pod.kinds import MISSING, Problems
from .._pod.mac_addresses import require_netaddr
from .._pod.machines import RunningMachine
from .._pod.model import ABSENT, POD_MODELS, Cluster, Controller, Declaration, Partition, Pod, Vpod, controller_ports
from .._pod.switches import ManagementSwitch, SwitchPort, Tor, Vlan
from .cloud_keys import (
    CLOUD,
    CONTROLLER_MACHINE,
    IMAGE,
    MACHINE,
    MANAGEMENT_NETWORK,
    RUNNING_MACHINE,
    SHARE,
    STORAGE_NETWORK,
)
from .consistency import contradictions
from .keys import (
    CLUSTER,
    CONTROLLER,
    DOCUMENT,
    MANAGEMENT_SWITCH,
    NAMES,
    PARTITION,
    POD,
    PORT_SETTINGS,
    RNIC,
    TOR,
    VPOD,
)

FOR_THE_SIMULATOR = "sim"
SETTINGS = PORT_SETTINGS.kinds.keys()

Fields = Mapping[str, Any]


def parse_declaration(document: Any) -> Declaration:
    """Check a pods.yml document, as parsed YAML, and give it its defaults.

    Raises :class:`DeclarationError` with every problem that was found, each with its key path.
    """
    require_netaddr()
    if isinstance(document, Mapping):
        document = {key: value for key, value in document.items() if key != FOR_THE_SIMULATOR}
    problems = Problems()
    checked = DOCUMENT.check(document, "", problems)
    for name, fields in (checked or {}).get("vpods", {}).items():
        if fields and fields.get("state") != ABSENT and "ipus" not in document["vpods"][name]:
            problems.add(f"vpods.{name}.ipus", MISSING)
    problems.raise_if_any()
    declaration = _declaration(DOCUMENT.complete(checked))
    for path, message in contradictions(declaration):
        problems.add(path, message)
    problems.raise_if_any()
    return declaration


def _declaration(fields: Fields) -> Declaration:
    clouds = {name: _cloud(name, values) for name, values in fields["clouds"].items()}
    vpods = {name: _vpod(name, values, clouds) for name, values in fields["vpods"].items()}
    return Declaration(
        pods={name: _pod(name, values) for name, values in fields["pods"].items()},
        controllers={
            name: Controller(name=name, **CONTROLLER.complete(values)) for name, values in fields["controllers"].items()
        },
        clusters={name: Cluster(name=name, **CLUSTER.complete(values)) for name, values in fields["clusters"].items()},
        vpods={name: vpod for name, vpod in vpods.items() if vpod.state != ABSENT},
        absent={name: vpod for name, vpod in vpods.items() if vpod.state == ABSENT},
        clouds=clouds,
        machines={
            name: RunningMachine(name=name, **RUNNING_MACHINE.complete(values))
            for name, values in fields["machines"].items()
        },
    )


def _pod(name: str, fields: Fields) -> Pod:
    values = POD.complete(fields)
    switch = values["management_switch"]
    values |= {
        "model": POD_MODELS[values["model"]],
        "tor": _tor(values["tor"]),
        "management_switch": None if switch is None else _management_switch(switch),
        "names": NAMES.complete(values["names"]),
        "vlans": _vlans(values["vlans"]),
        "overrides": {device: _in_full(facts) for device, facts in values["overrides"].items()},
    }
    rnic = {f"rnic_{key}": value for key, value in RNIC.complete(values.pop("rnic")).items()}
    return Pod(name=name, **rnic, **values)


def _tor(fields: Fields) -> Tor:
    values = TOR.complete(fields)
    return Tor(**{**values, "ports": _ports(values["ports"], canonical_port)})


def _management_switch(fields: Fields) -> ManagementSwitch:
    values = MANAGEMENT_SWITCH.complete(fields)
    return ManagementSwitch(values["address"], _vlans(values["vlans"]), _ports(values["ports"], port_name))


def _vlans(vlans: Fields) -> dict[str, Vlan]:
    return {name: Vlan(fields["id"], fields.get("vni")) for name, fields in vlans.items()}


def _ports(ports: Fields, spelled: Callable[[str], str]) -> tuple[SwitchPort, ...]:
    return tuple(_port(name, spelled(name), fields) for name, fields in ports.items())


def _port(name: str, port: str, fields: Fields) -> SwitchPort:
    settings = {key: value for key, value in fields.items() if key in SETTINGS}
    return SwitchPort(name, port, settings=settings, **{key: fields[key] for key in fields.keys() - SETTINGS})


def _in_full(facts: Fields) -> dict[str, Any]:
    spelled = dict(facts)
    if "switch_port" in facts:
        spelled["switch_port"] = canonical_port(facts["switch_port"])
    if "switch_ports" in facts:
        spelled["switch_ports"] = [canonical_port(port) for port in facts["switch_ports"]]
    return spelled


def _cloud(name: str, fields: Fields) -> Cloud:
    values = CLOUD.complete(fields)
    values["entry"] = values["entry"] or name
    values["images"] = tuple(Image(name=each, **IMAGE.complete(given)) for each, given in values["images"].items())
    if values["management"] is not None:
        values["management"] = ManagementNetwork(**MANAGEMENT_NETWORK.complete(values["management"]))
    return Cloud(name=name, **values)


def _share(vpod: str, ipus: int, fields: Fields, clouds: Mapping[str, Cloud]) -> CloudShare:
    values = SHARE.complete(fields)
    values |= {
        "project": values["project"] or vpod,
        "ipus_per_machine": values["ipus_per_machine"] or ipus,
        "machine": _machine(values["machine"]),
    }
    if values["controller"] is not None:
        controller = CONTROLLER_MACHINE.complete(values["controller"])
        values["controller"] = ControllerMachine(**{**controller, "machine": _machine(controller["machine"])})
    if values["storage"] is not None:
        storage, cloud = STORAGE_NETWORK.complete(values["storage"]), clouds.get(values["name"])
        rnics = cloud.physical_network if cloud else ""
        storage["physical_network"] = storage["physical_network"] or rnics
        values["storage"] = Storage(**storage, is_on_rnics=storage["physical_network"] == rnics)
    return CloudShare(**values)


def _machine(fields: Fields) -> Machine:
    values = MACHINE.complete(fields)
    values["numa_nodes"] = None if values["numa_nodes"] == NO_NUMA else values["numa_nodes"]
    return Machine(**values)


def _vpod(name: str, fields: Fields, clouds: Mapping[str, Cloud]) -> Vpod:
    values = VPOD.complete(fields)
    ports = controller_ports(values["vlan"], values.pop("controller_ports"))
    partitions = values.pop("partitions").items()
    share = values.pop("cloud")
    return Vpod(
        name=name,
        ports=ports,
        cloud=None if share is None else _share(name, values["ipus"], share, clouds),
        partitions=tuple(Partition(name=each, **PARTITION.complete(given)) for each, given in partitions),
        **values,
    )
