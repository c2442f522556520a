# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the document in pods.yml to a :class:`Declaration`: shape, defaults and the contradictions inside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._vipu.fields import GW_ROUTINGS, ROUTINGS, SYNC_TYPES

from .._pod.controllers import controller_ports
from .._pod.mac_addresses import MacAddress, require_netaddr
from .._pod.model import (
    ABSENT,
    DEDICATED,
    ENVIRONMENT,
    FILES,
    INSECURE,
    JOBS,
    LAYERS,
    MACVLAN,
    OWN,
    POD_MODELS,
    PRESENT,
    SECURE,
    SHARED,
    Cluster,
    Controller,
    Declaration,
    Partition,
    Pod,
    Vpod,
)
from .._pod.schema import MISSING, Address, Choice, Flag, Integer, ListOf, MapOf, Problems, Record, Text
from .._pod.switches import MANAGEMENT_SWITCH, TOR, VLAN_ID, VLAN_NAME, VLANS, VNI, management_switch, tor, vlans
from .consistency import contradictions

SCHEMA = 1
DEFAULT_NAMES = {
    "ipu_machine": "{pod}-ipum{n}",
    "poplar_server": "{pod}-poplar{n}",
    "tor_switch": "{pod}-tor",
    "management_switch": "{pod}-mgmt",
}

NAME = Text(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", "a name of letters, digits, '.', '_' and '-' (at most 63)")
ENTITY = Text(r"[A-Za-z0-9._-]{1,64}", "a V-IPU name of letters, digits, '.', '_' and '-' (at most 64)")
MAC = MacAddress()
PORT = Text(r"(?i)et(hernet)?\d+(/\d+)?", "a switch port such as Ethernet9/1")
TEMPLATE = Text(
    r"([A-Za-z0-9._-]|\{(pod|lrack|n)\})+", "a template of {pod}, {lrack} and {n} such as lr{lrack}-ipum{n}"
)
MTU = Integer(1280, 9216)
IPUS = Integer(1, 1 << 20)

OVERRIDES = Record(
    {
        "bmc_address": Address(),
        "bmc_mac": MAC,
        "gateway_address": Address(),
        "gateway_mac": MAC,
        "management_address": Address(),
        "rnic_address": Address(),
        "rnic_interface": NAME,
        "rnic_mac": MAC,
        "rnic_mtu": MTU,
        "rnic_prefix": Integer(8, 30),
        "switch_port": PORT,
        "switch_ports": ListOf(PORT),
    }
)
POD = Record(
    {
        "model": Choice(tuple(sorted(POD_MODELS))),
        "lrack": Integer(1, 254),
        "addressing": Choice(("factory", "multi-rack")),
        "poplar_servers": Integer(1, 4),
        "rnic": Record({"interface": NAME, "vlan": VLAN_ID, "vni": VNI, "vlan_name": VLAN_NAME, "mtu": MTU}),
        "tor": TOR,
        "management_switch": MANAGEMENT_SWITCH,
        "names": Record(dict.fromkeys(DEFAULT_NAMES, TEMPLATE)),
        "vlans": VLANS,
        "overrides": MapOf(NAME, OVERRIDES),
        "managed": ListOf(Choice(LAYERS)),
        "canary": ListOf(NAME),
        "excluded": ListOf(NAME),
        "hypervisors": ListOf(NAME),
        "virtual_functions": Integer(1, 127),
    },
    required=("model",),
)
TCP_PORT = Integer(1, 65535)
CONTROLLER = Record(
    {
        "host": NAME,
        "address": Address(),
        "mode": Choice((INSECURE, SECURE)),
        "user_port": TCP_PORT,
        "admin_port": TCP_PORT,
        "strict_sizes": Flag(),
        "any_replica_size": Flag(),
    }
)
CLUSTER = Record(
    {
        "controller": NAME,
        "pods": ListOf(NAME),
        "topology": Choice(("mesh", "torus")),
        "looped": Flag(),
        "spine": Flag(),
    },
    required=("controller", "pods"),
)
PARTITION = Record(
    {
        "ipus": IPUS,
        "gcds": IPUS,
        "replicas": IPUS,
        "reconfigurable": Flag(),
        "routing": Choice(ROUTINGS),
        "gw_routing": Choice(GW_ROUTINGS),
        "sync_type": Choice(SYNC_TYPES),
        "relocatable": Flag(),
        "disable_auto_reset": Flag(),
        "poplar_servers": ListOf(NAME, repeat=True),
    },
    required=("ipus",),
)
VPOD = Record(
    {
        "state": Choice((PRESENT, ABSENT)),
        "cluster": NAME,
        "ipus": IPUS,
        "vlan": VLAN_ID,
        "vni": VNI,
        "vlan_name": VLAN_NAME,
        "poplar_servers": ListOf(NAME),
        "ipu_machines": ListOf(NAME),
        "users": ListOf(ENTITY),
        "ipuof": Choice((ENVIRONMENT, FILES)),
        "partitions": MapOf(ENTITY, PARTITION),
        "controller": Choice((SHARED, DEDICATED)),
        "controller_ports": Record({"user": TCP_PORT, "admin": TCP_PORT, "metrics": TCP_PORT}),
        "virtual_function": Integer(0, 126),
        "containers": Choice((MACVLAN,)),
        "allocation": Choice((OWN, JOBS)),
    },
    required=("cluster",),
)
DOCUMENT = Record(
    {
        "plugin": Text(),
        "schema": Integer(SCHEMA, SCHEMA),
        "pods": MapOf(NAME, POD),
        "controllers": MapOf(NAME, CONTROLLER),
        "clusters": MapOf(NAME, CLUSTER),
        "vpods": MapOf(ENTITY, VPOD),
    },
    required=("schema", "pods"),
)
FOR_THE_SIMULATOR = "sim"


def parse_declaration(document: Any) -> Declaration:
    """Check a pods.yml document and give it its defaults.

    Args:
        document: the parsed YAML. The key ``sim`` belongs to the simulated pod and is not looked at.

    Raises:
        DeclarationError: with every problem that was found, each with its key path.
    """
    require_netaddr()
    if isinstance(document, Mapping):
        document = {key: value for key, value in document.items() if key != FOR_THE_SIMULATOR}
    problems = Problems()
    checked = DOCUMENT.check(document, "", problems)
    vpods: dict[str, Mapping[str, Any]] = checked.get("vpods", {}) if checked else {}
    for name, fields in vpods.items():
        if fields and fields.get("state") != ABSENT and "ipus" not in document["vpods"][name]:
            problems.add(f"vpods.{name}.ipus", MISSING)
    problems.raise_if_any()
    declaration = Declaration(
        pods={name: _pod(name, fields or {}) for name, fields in checked["pods"].items()},
        controllers={name: _controller(name, fields) for name, fields in checked.get("controllers", {}).items()},
        clusters={name: _cluster(name, fields) for name, fields in checked.get("clusters", {}).items()},
        vpods={name: _vpod(name, fields) for name, fields in vpods.items() if fields.get("state") != ABSENT},
        absent={name: _vpod(name, fields) for name, fields in vpods.items() if fields.get("state") == ABSENT},
    )
    for path, message in contradictions(declaration):
        problems.add(path, message)
    problems.raise_if_any()
    return declaration


def _pod(name: str, fields: Mapping[str, Any]) -> Pod:
    rnic = fields.get("rnic", {})
    return Pod(
        name=name,
        model=POD_MODELS[fields["model"]],
        lrack=fields.get("lrack", 1),
        addressing=fields.get("addressing", "factory"),
        poplar_servers=fields.get("poplar_servers", 1),
        rnic_interface=rnic.get("interface", "ens2f0"),
        rnic_vlan=rnic.get("vlan"),
        rnic_vni=rnic.get("vni"),
        rnic_vlan_name=rnic.get("vlan_name"),
        rnic_mtu=rnic.get("mtu"),
        tor=tor(fields.get("tor", {})),
        management_switch=management_switch(fields.get("management_switch")),
        names=dict(DEFAULT_NAMES, **fields.get("names", {})),
        vlans=vlans(fields.get("vlans", {})),
        overrides=fields.get("overrides", {}),
        managed=tuple(fields.get("managed", LAYERS)),
        canary=tuple(fields.get("canary", ())),
        excluded=tuple(fields.get("excluded", ())),
        hypervisors=tuple(fields.get("hypervisors", ())),
        virtual_functions=fields.get("virtual_functions", 8),
    )


def _controller(name: str, fields: Mapping[str, Any]) -> Controller:
    return Controller(
        name=name,
        host=fields.get("host"),
        address=fields.get("address"),
        mode=fields.get("mode", INSECURE),
        user_port=fields.get("user_port", 8090),
        admin_port=fields.get("admin_port", 8091),
        strict_sizes=fields.get("strict_sizes", False),
        any_replica_size=fields.get("any_replica_size", False),
    )


def _cluster(name: str, fields: Mapping[str, Any]) -> Cluster:
    return Cluster(
        name=name,
        controller=fields["controller"],
        pods=tuple(fields["pods"]),
        topology=fields.get("topology"),
        looped=fields.get("looped"),
        spine=fields.get("spine", False),
    )


def _vpod(name: str, fields: Mapping[str, Any]) -> Vpod:
    partitions: dict[str, Mapping[str, Any]] = fields.get("partitions", {})
    return Vpod(
        name=name,
        cluster=fields["cluster"],
        ipus=fields.get("ipus", 0),
        vlan=fields.get("vlan"),
        vni=fields.get("vni"),
        vlan_name=fields.get("vlan_name"),
        poplar_servers=tuple(fields.get("poplar_servers", ())),
        ipu_machines=tuple(fields.get("ipu_machines", ())),
        users=tuple(fields.get("users", ())),
        ipuof=fields.get("ipuof", ENVIRONMENT),
        partitions=tuple(_partition(partition, values) for partition, values in partitions.items()),
        controller=fields.get("controller", SHARED),
        ports=controller_ports(fields.get("vlan"), fields.get("controller_ports", {})),
        virtual_function=fields.get("virtual_function"),
        containers=fields.get("containers"),
        allocation=fields.get("allocation", OWN),
    )


def _partition(name: str, fields: Mapping[str, Any]) -> Partition:
    return Partition(
        name=name,
        ipus=fields["ipus"],
        gcds=fields.get("gcds"),
        replicas=fields.get("replicas"),
        reconfigurable=fields.get("reconfigurable", False),
        routing=fields.get("routing"),
        gw_routing=fields.get("gw_routing"),
        sync_type=fields.get("sync_type"),
        relocatable=fields.get("relocatable"),
        disable_auto_reset=fields.get("disable_auto_reset"),
        poplar_servers=tuple(fields.get("poplar_servers", ())),
    )
