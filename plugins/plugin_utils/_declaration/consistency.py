# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Contradictions in a declaration: key paths, each with a sentence and its remedy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from ipaddress import IPv4Interface

from .._desired.containers import container_findings
from .._inventory.hosts import FIXED_GROUPS, group_name
from .._placement.racks import pods_of_servers, rack_findings
from .._pod.devices import IPU_MACHINE, POPLAR_SERVER, Device, devices_of, devices_of_pod
from .._pod.kinds import Finding
from .._pod.managed import pods_of_controller
from .._pod.model import CONTROLLER_LAYER, Declaration, Pod
from .._pod.wording import meant, some, unknown
from .cloud_consistency import cloud_address_findings, cloud_findings
from .device_consistency import server_findings, switch_findings, tenancy_findings
from .machine_consistency import machine_findings
from .names import taken_names
from .vpod_consistency import absent_findings, block_findings, dedicated_findings, jobs_findings, vpod_findings

ADDRESS_FACTS = ("bmc_address", "gateway_address", "management_address", "rnic_address")


def contradictions(declaration: Declaration) -> list[Finding]:
    """Everything that contradicts itself, in the order of the file."""
    by_pod = {name: list(devices_of_pod(pod)) for name, pod in declaration.pods.items()}
    findings = [
        *_pod_names(declaration),
        *_device_names(by_pod),
        *_overrides(declaration, by_pod),
        *(finding for pod in declaration.pods.values() for finding in switch_findings(pod)),
        *_controllers(declaration),
        *_clusters(declaration),
        *_canaries(declaration),
        *_managed(declaration),
        *vpod_findings(declaration),
        *block_findings(declaration),
        *jobs_findings(declaration),
        *tenancy_findings(declaration, pods_of_servers(declaration)),
        *absent_findings(declaration, pods_of_servers(declaration)),
        *dedicated_findings(declaration),
        *cloud_findings(declaration),
    ]
    # Clashes between devices are only meaningful once every device has a name of its own.
    return findings or [
        *_addresses(declaration),
        *_host_addresses(declaration, by_pod),
        *_switch_ports(declaration, by_pod),
        *server_findings(declaration),
        *rack_findings(declaration),
        *container_findings(declaration),
        *cloud_address_findings(declaration),
        *machine_findings(declaration),
    ]


def _pod_names(declaration: Declaration) -> Iterator[Finding]:
    if not declaration.pods:
        yield "pods", "holds no pod; declare at least one, for example pod001: {model: bow-pod64}"
    groups = dict.fromkeys(FIXED_GROUPS, "")
    for path, group in (
        *((f"pods.{name}", group_name(name)) for name in declaration.pods),
        *((f"clusters.{name}", group_name(f"cluster_{name}")) for name in declaration.clusters),
        *((f"vpods.{name}", group_name(f"vpod_{name}")) for name in (*declaration.vpods, *declaration.absent)),
    ):
        other = groups.setdefault(group, path)
        if not other:
            yield path, f"{group!r} is the name of a group that always exists; choose another name"
        elif other != path:
            yield path, f"its group of hosts would be called {group}, as that of {other}; choose another name"


def _device_names(by_pod: Mapping[str, list[Device]]) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    for pod, devices in by_pod.items():
        for device in devices:
            if device.name in seen:
                yield (
                    f"pods.{pod}.names.{device.kind}",
                    f"{device.name!r} is already the name of a device of {seen[device.name]}; "
                    "use {pod} or {lrack}, and {n}, in the template",
                )
                break
            seen[device.name] = pod


def _overrides(declaration: Declaration, by_pod: Mapping[str, list[Device]]) -> Iterator[Finding]:
    for pod in declaration.pods.values():
        known = {device.name: device.kind for device in by_pod[pod.name]}
        for name, fields in pod.overrides.items():
            path = f"pods.{pod.name}.overrides.{name}"
            if name not in known:
                yield path, f"{name!r} is no device of {pod.name}{meant(name, known)}; its devices are {some(known)}"
            elif known[name] == IPU_MACHINE and "switch_ports" in fields:
                yield f"{path}.switch_ports", "an IPU-Machine has one RNIC port; write switch_port"
            elif known[name] == POPLAR_SERVER and "switch_port" in fields:
                yield f"{path}.switch_port", "a Poplar server has a list of ports; write switch_ports: [...]"


def _controllers(declaration: Declaration) -> Iterator[Finding]:
    servers, taken = pods_of_servers(declaration), taken_names(replace(declaration, controllers={}))
    for name, controller in declaration.controllers.items():
        path = f"controllers.{name}"
        if controller.address is not None and name in taken:
            yield path, f"its host would be called {name!r}, which is the name of {taken[name]}; choose another name"
        if (controller.host is None) == (controller.address is None):
            yield path, "needs either host (a Poplar server) or address (of a host of its own)"
        elif controller.host is not None and controller.host not in servers:
            nearly = meant(controller.host, servers)
            yield f"{path}.host", f"{controller.host!r} is no Poplar server{nearly}; the servers are {some(servers)}"
        if controller.user_port == controller.admin_port:
            yield f"{path}.admin_port", f"{controller.admin_port} is the user port too; give it another"


def _clusters(declaration: Declaration) -> Iterator[Finding]:
    taken: dict[str, str] = {}
    for name, cluster in declaration.clusters.items():
        path = f"clusters.{name}"
        if cluster.controller not in declaration.controllers:
            yield f"{path}.controller", unknown(cluster.controller, "controller", declaration.controllers)
        if not cluster.pods:
            yield f"{path}.pods", "holds no pod; name at least one"
        models = {declaration.pods[pod].model.name for pod in cluster.pods if pod in declaration.pods}
        if len(models) > 1:
            yield f"{path}.pods", f"they are of models {' and '.join(sorted(models))}; a cluster has pods of one model"
        for pod in cluster.pods:
            if pod not in declaration.pods:
                yield f"{path}.pods", unknown(pod, "pod", declaration.pods)
            elif (other := taken.setdefault(pod, name)) != name:
                yield f"{path}.pods", f"{pod!r} is already in clusters.{other}; a pod belongs to one cluster"


def _canaries(declaration: Declaration) -> Iterator[Finding]:
    for pod in (pod for pod in declaration.pods.values() if pod.canary):
        path, able = f"pods.{pod.name}.canary", [each.name for each in devices_of_pod(pod) if each.kind != IPU_MACHINE]
        for name in pod.canary:
            if name not in able:
                yield path, f"{name!r} is no switch or Poplar server of {pod.name}; use {', '.join(able)}"


def _managed(declaration: Declaration) -> Iterator[Finding]:
    """A controller cannot be changed for one of its pods and not for another."""
    with_clusters = {cluster.controller for cluster in declaration.clusters.values()}
    for controller in declaration.controllers.values():
        if controller.name not in with_clusters:
            continue
        pods = [declaration.pods[name] for name in pods_of_controller(declaration, controller)]
        managing = [pod.name for pod in pods if CONTROLLER_LAYER in pod.managed]
        others = [pod.name for pod in pods if CONTROLLER_LAYER not in pod.managed]
        if managing and others:
            yield (
                f"pods.{others[0]}.managed",
                f"leaves the controller out, but {controller.name} is also that of {', '.join(managing)}; "
                "say the same of all pods of a controller",
            )


def _addresses(declaration: Declaration) -> Iterator[Finding]:
    """Clashes of derived or overridden addresses, one finding per pair of devices' homes."""
    owners: dict[str, tuple[Device, str]] = {}
    reported = set()
    for device in devices_of(declaration).values():
        for fact in ADDRESS_FACTS:
            if fact not in device.facts:
                continue
            other, other_fact = owners.setdefault(device.facts[fact], (device, fact))
            if (other, other_fact) == (device, fact):
                continue
            if _is_overridden(declaration, other, other_fact) and not _is_overridden(declaration, device, fact):
                culprit, its_fact, stays, stays_fact = other, other_fact, device, fact
            else:
                culprit, its_fact, stays, stays_fact = device, fact, other, other_fact
            path, remedy = _address_path(declaration, culprit, its_fact)
            pair = (path, stays.pod)
            if pair not in reported:
                reported.add(pair)
                yield (
                    path,
                    f"{device.facts[fact]} of {culprit.name} is also the {stays_fact} of {stays.name}; {remedy}",
                )


def _host_addresses(declaration: Declaration, by_pod: Mapping[str, list[Device]]) -> Iterator[Finding]:
    """Addresses of RNICs that stand for their whole network."""
    for device in (device for devices in by_pod.values() for device in devices if "rnic_prefix" in device.facts):
        own = IPv4Interface(f"{device.facts['rnic_address']}/{device.facts['rnic_prefix']}")
        words = {own.network.network_address: "the address", own.network.broadcast_address: "the broadcast address"}
        if own.ip in words:
            yield (
                _address_path(declaration, device, "rnic_address")[0],
                f"{own.ip} is {words[own.ip]} of network {own.network}, which no device has; write its own address",
            )


def _is_overridden(declaration: Declaration, device: Device, fact: str) -> bool:
    return bool(device.pod) and fact in declaration.pods[device.pod].overrides.get(device.name, {})


def _address_path(declaration: Declaration, device: Device, fact: str) -> tuple[str, str]:
    own = {vpod.controller_host: name for name, vpod in {**declaration.absent, **declaration.vpods}.items()}
    if device.name in own:
        return f"vpods.{own[device.name]}.controller_address", "use a free address"
    if not device.pod:
        return f"controllers.{device.name}.address", "use a free address, or host: with the server's name"
    if _is_overridden(declaration, device, fact):
        return f"pods.{device.pod}.overrides.{device.name}.{fact}", "use a free address"
    pod = declaration.pods[device.pod]
    key = "lrack" if pod.addressing == "multi-rack" else "addressing"
    return f"pods.{device.pod}.{key}", "give each pod its own lrack with addressing multi-rack, or override one"


def _switch_ports(declaration: Declaration, by_pod: Mapping[str, list[Device]]) -> Iterator[Finding]:
    for pod, devices in by_pod.items():
        owners: dict[str, Device] = {}
        for device in devices:
            for port in device.facts.get("switch_ports", [device.facts.get("switch_port")]):
                if port is None:
                    continue
                other = owners.setdefault(port, device)
                if other is not device:
                    yield _port_clash(declaration.pods[pod], device, other, port)


def _port_clash(pod: Pod, device: Device, other: Device, port: str) -> Finding:
    is_overridden = any(key.startswith("switch_port") for key in pod.overrides.get(device.name, {}))
    moved = device if is_overridden else other
    stays = other if moved is device else device
    key = "switch_ports" if moved.kind == POPLAR_SERVER else "switch_port"
    return (
        f"pods.{pod.name}.overrides.{moved.name}.{key}",
        f"{port} of {moved.name} is already the port of {stays.name}; give each its own port",
    )
