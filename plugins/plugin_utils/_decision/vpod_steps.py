# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of the role vpod on a Poplar server: V-IPU client, credentials, IPUoF, containers. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import REMOVE, Step, predict
from ansible_collections.ipu.pod.plugins.module_utils._vipu import ipuof
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import PARTITION

from .._host_resources.resources import TASK, File, Resource, Resources, resource_steps
from .._host_resources.vipu_controller import CERTIFY_ADDRESSES
from .._host_resources.vpod import AUTHORITY, CLIENT, HEADER, vpod_resources
from .._pod.model import FILES
from .looks import Look, Part, read

Options = Mapping[str, Any]
Secrets = Mapping[str, Mapping[str, str]]


def vpod_steps(
    options: Options,
    settings: Mapping[str, Any],
    look: Look,
    controller_look: Look | None,
    earlier: Sequence[Step] = (),
    new_key: bool = False,
    controller_earlier: Sequence[Step] = (),
) -> list[Step]:
    """The steps of the role.

    ``options`` are those of the desired state or of the teardown, ``earlier`` what the role does on the server while
    vPODs go down, ``controller_earlier`` what earlier stages do on the controller's host. Its look is only needed for
    credentials and IPUoF files. ``new_key``: the plan makes the server's V-IPU user, who then has another access key.

    Refused if the controller has no credentials for the server and does not get them, something stands in the way, or
    what has to be known was not read.
    """
    own = {**settings, "vpod_vipu": options["vipu"] or {}, "vpod_containers": options["containers"] or {}}
    seen = _without(read(look, "things"), [step.name for step in earlier if step.action == REMOVE])
    resources = vpod_resources(own, is_ours=seen["texts"].get(CLIENT, "").startswith(HEADER))
    if own["vpod_vipu"].get("user"):
        controller = own["vpod_vipu"]["controller"]
        there = _of_controller(controller, controller_look, "things")["secrets"]
        if lost := _lost(resources, there, new_key, controller_earlier):
            raise Refused(
                f"{controller} has no {', '.join(lost)}, which the V-IPU client on {look['host']} needs; run "
                "playbooks/vipu_controllers.yml, and if it is the key of a user who is there already, write it there."
            )
        is_new = any(step.name == CERTIFY_ADDRESSES for step in controller_earlier)
        resources = [_with_secret(each, there, new_key, is_new) for each in resources]
    # An earlier stage writes only what is the same in the end.
    written = [step.name for step in earlier if step.action != REMOVE]
    left = [each for each in resources if getattr(each, "path", None) not in written]
    state = predict(dict(read(look, "ipuof")), [step for step in earlier if ipuof.is_place(step.name)])
    configurations = _configurations(options, controller_look, controller_earlier)
    return [*resource_steps(left, seen), *_ipuof_steps(options["ipuof"], configurations, own, state)]


def _of_controller(controller: str, look: Look | None, name: str) -> Part:
    try:
        return read(look, name)
    except Refused as error:
        raise Refused(f"{controller}: {error}, so what the server needs from there is not known") from None


def _without(seen: Part, gone: Sequence[str]) -> Part:
    """The ordinary resources of a look without the paths that are gone."""
    left = {
        name: {path: found for path, found in seen[name].items() if path not in gone}
        for name in ("paths", "texts", "secrets")
    }
    return {**seen, **left}


def _lost(resources: Resources, there: Secrets, new_key: bool, controller_earlier: Sequence[Step]) -> list[str]:
    """The secrets that the controller's host does not have, and that the plan does not make."""
    # Commands on a controller's host initialise it, or make it secure.
    new_certificates = any(step.kind == TASK for step in controller_earlier)
    return [
        each.source
        for each in resources
        if isinstance(each, File) and each.is_secret and each.source not in there
        if not (new_key if each.path == CLIENT else new_certificates)
    ]


def _with_secret(resource: Resource, there: Secrets, new_key: bool, new_authority: bool) -> Resource:
    """A file with the hash of its secret; without one the secret is yet to be made, and differs from what is there."""
    if not isinstance(resource, File) or not resource.is_secret:
        return resource
    is_new = {CLIENT: new_key, AUTHORITY: new_authority}.get(resource.path, False)
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
