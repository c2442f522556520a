# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of the roles vpod and containers on a Poplar server. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._containers import networks
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import REMOVE, Step, predict
from ansible_collections.ipu.pod.plugins.module_utils._vipu import ipuof
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import PARTITION

from .._host_resources.containers import client_resources, containers_resources, left_clients
from .._host_resources.resources import TASK, File, Made, Resource, Resources, Unit, resource_steps
from .._host_resources.vipu_controller import CERTIFY_ADDRESSES, check_archive
from .._host_resources.vpod import CLIENT, HEADER, has_key, is_authority, program_resources, vpod_resources
from .._pod.model import FILES
from .looks import Look, Part, part, read

# The part of a look with the container engines.
CONTAINERS = "containers"

Options = Mapping[str, Any]
Secrets = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class OnController:
    """What concerns a client on the host of its V-IPU controller.

    Args:
        look: is only needed for credentials and IPUoF files.
        new_key: whether the plan makes the client's user, who then has another access key.
        earlier: what earlier stages do there.
    """

    look: Look | None
    new_key: bool = False
    earlier: Sequence[Step] = ()


def vpod_steps(
    options: Options,
    settings: Mapping[str, Any],
    look: Look,
    controller: OnController,
    earlier: Sequence[Step] = (),
    controllers: Mapping[str, OnController] | None = None,
) -> list[Step]:
    """The steps of both roles.

    ``options`` are those of the desired state or of the teardown, ``earlier`` what the roles do on the server while
    vPODs go down. ``controllers`` are those of the vPODs that share the server.

    Refused if the controller has no credentials for the server and does not get them, something stands in the way, or
    what has to be known was not read.
    """
    own = {**settings, "vpod_vipu": options["vipu"] or {}, "containers_vpods": options["containers"]}
    seen = _without(read(look, "things"), [step.name for step in earlier if step.action == REMOVE])
    client = vpod_resources(own, is_ours=seen["texts"].get(CLIENT, "").startswith(HEADER))
    resources = [
        *_program(own, look, [(own["vpod_vipu"], controller)]),
        *_known(client, own["vpod_vipu"], controller, look),
        *containers_resources(own),
        *left_clients(own, seen["paths"]),
    ]
    clients = {vpod["name"]: vpod.get("vipu") for vpod in options["containers"]}
    there = controllers or {}
    resources += _program(own, look, [(clients[name] or {}, found) for name, found in there.items()])
    for name, shared in client_resources(own).items():
        resources += _known(shared, clients[name], there[name], look)
    # An earlier stage writes only what is the same in the end.
    written = [step.name for step in earlier if step.action != REMOVE]
    left = [each for each in resources if _name(each) not in written]
    state = predict(dict(read(look, "ipuof")), [step for step in earlier if ipuof.is_place(step.name)])
    configurations = _configurations(options, controller.look, controller.earlier)
    return [
        *resource_steps(left, seen),
        *_ipuof_steps(options["ipuof"], configurations, own, state),
        *_container_steps(options["containers"], look, earlier),
    ]


def _program(
    settings: Mapping[str, Any], look: Look, clients: Sequence[tuple[Options, OnController]]
) -> list[Resource]:
    """The program of these clients; refused if its archive is not of their controllers' release."""
    # On the host of a controller it comes with the controller's archive.
    others = [(client, there) for client, there in clients if client and client["controller"] != look["host"]]
    resources = program_resources(settings) if others else []
    if resources:
        check_archive(settings, "vpod")
    for client, there in others if resources else ():
        release = _release_of(client, there.look)
        if release not in ("", settings["vpod_release"]):
            raise Refused(
                f"vpod_release is {settings['vpod_release']}, but the V-IPU controller on {client['controller']} is of "
                f"release {release}; set vpod_archive to the archive of {release}, or leave it out"
            )
    return resources


def _release_of(client: Options, look: Look | None) -> str:
    """The V-IPU release of a client's controller: that of its archive, else what it says; empty if nobody knows."""
    settings = (look or {}).get("settings") or {}
    if settings.get("vipu_controller_archive"):
        return str(settings["vipu_controller_release"])
    there = part(look, "controllers") or {}
    return str(there.get(client.get("dedicated") or "", {}).get("release", ""))


def _known(resources: Resources, client: Options, there: OnController, look: Look) -> list[Resource]:
    """A client's resources, each secret with what is known of it."""
    if not client.get("user"):
        return list(resources)
    controller = client["controller"]
    secrets = _of_controller(controller, there.look, "things")["secrets"]
    if lost := _lost(resources, secrets, there.new_key, there.earlier):
        raise Refused(
            f"{controller} has no {', '.join(lost)}, which the V-IPU client on {look['host']} needs; run "
            "playbooks/vipu_controllers.yml, and if it is the key of a user who is there already, write it there."
        )
    is_new = any(step.name == CERTIFY_ADDRESSES for step in there.earlier)
    return [_with_secret(each, secrets, there.new_key, is_new) for each in resources]


def _name(resource: Resource) -> str | None:
    """What its steps are called."""
    return resource.name if isinstance(resource, (Made, Unit)) else getattr(resource, "path", None)


def _of_controller(controller: str, look: Look | None, name: str) -> Part:
    try:
        return read(look, name)
    except Refused as error:
        raise Refused(f"{controller}: {error}, so what the server needs from there is not known") from None


def _without(seen: Part, gone: Sequence[str]) -> Part:
    """The ordinary resources of a look without the paths that are gone, and without the units whose files these are."""
    left = {
        name: {path: found for path, found in seen[name].items() if not _is_below(path, gone)}
        for name in ("paths", "texts", "secrets")
    }
    units = {name: found for name, found in seen["units"].items() if f"/etc/systemd/system/{name}" not in gone}
    return {**seen, **left, "units": units}


def _is_below(path: str, gone: Sequence[str]) -> bool:
    """Whether a path is gone, or in a directory that is."""
    return any(f"{path}/".startswith(f"{each}/") for each in gone)


def _lost(resources: Resources, there: Secrets, new_key: bool, controller_earlier: Sequence[Step]) -> list[str]:
    """The secrets that the controller's host does not have, and that the plan does not make."""
    # Commands on a controller's host initialise it, or make it secure.
    new_certificates = any(step.kind == TASK for step in controller_earlier)
    return [
        each.source
        for each in resources
        if isinstance(each, File) and each.is_secret and each.source not in there
        if not (new_key if has_key(each) else new_certificates)
    ]


def _with_secret(resource: Resource, there: Secrets, new_key: bool, new_authority: bool) -> Resource:
    """A file with the hash of its secret; without one the secret is yet to be made, and differs from what is there."""
    if not isinstance(resource, File) or not resource.is_secret:
        return resource
    is_new = (has_key(resource) and new_key) or (is_authority(resource) and new_authority)
    if resource.source not in there or is_new:
        return replace(resource, content=None)
    return replace(resource, sha256=there[resource.source]["secret"])


def _configurations(
    options: Options, controller_look: Look | None, controller_earlier: Sequence[Step]
) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Partition to the IPUoF configuration of each of its GCDs, of those that the plan leaves as they are."""
    partitions = options["ipuof"]["partitions"]
    if options["ipuof"]["mode"] != FILES or not partitions:
        return {}
    client = options["vipu"]
    controllers = _of_controller(client["controller"], controller_look, "controllers")
    there = controllers.get(client.get("dedicated") or "", {}).get("ipuof_configurations", {})
    changed = {step.name for step in controller_earlier if step.kind == PARTITION}
    return {name: configurations for name, configurations in there.items() if name not in changed}


def _ipuof_steps(
    wanted: Options,
    configurations: Mapping[str, Sequence[Mapping[str, Any]]],
    settings: Mapping[str, Any],
    state: dict[str, dict[str, Any]],
) -> list[Step]:
    asked = {**wanted, "configurations": configurations, "login_partition": None}
    ownership = ipuof.Ownership(settings["vpod_owner"], settings["vpod_group"], settings["vpod_file_mode"])
    return ipuof.plan(ipuof.wanted_files(asked, predict=True), ownership, state)


def _container_steps(vpods: Sequence[Options], look: Look, earlier: Sequence[Step]) -> list[Step]:
    if not vpods and part(look, CONTAINERS) is None:
        return []
    state = predict(dict(read(look, CONTAINERS)), [step for step in earlier if step.kind == networks.NETWORK])
    return networks.plan(networks.networks_from([vpod["network"] for vpod in vpods]), state)
