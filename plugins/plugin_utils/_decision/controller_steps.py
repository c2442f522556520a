# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of V-IPU controllers: their services, and what they hold; that of a cluster, and those of vPODs. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import CREATE, DISRUPTIVE, State, Step, predict
from ansible_collections.ipu.pod.plugins.module_utils._vipu.declared import unwanted
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import (
    AGENT,
    ALLOCATION,
    KINDS,
    PARTITION,
    USER,
    empty_state,
    plural,
)
from ansible_collections.ipu.pod.plugins.module_utils._vipu.options import declared_by, policy_of
from ansible_collections.ipu.pod.plugins.module_utils._vipu.planner import plan, troubles

from .._host_resources.resources import RUN, TASK, Absent, Account, Made, Unit, resource_steps
from .._host_resources.vipu_controller import (
    MAKE_CERTIFICATES,
    MOVE,
    Service,
    as_wanted_user,
    check_archive,
    check_storage,
    dedicated_service,
    is_moved,
    release_resources,
    service_of,
    service_resources,
    user_there,
)
from .finding import Finding
from .looks import Look, missing, part

Options = Mapping[str, Any]
Settings = Mapping[str, Any]

# Of an agent, as controllers spell it; the second where one does not say.
UP, UNKNOWN = "up", "unknown"
KEEP_STORAGE = "Keep the storage"
# Everything in the allocation of a vPOD that goes, whoever made it.
ALL = 1_000_000


@dataclass(frozen=True)
class DedicatedStep(Step):
    """A step on what the dedicated controller of a vPOD holds; names there mean nothing on other controllers."""

    vpod: str = ""


def vpod_of(step: Step) -> str:
    """The vPOD on whose dedicated controller a step is; empty for that of a cluster."""
    return step.vpod if isinstance(step, DedicatedStep) else ""


def controller_steps(options: Options, settings: Settings, look: Look, earlier: Sequence[Step] = ()) -> list[Step]:
    """The controller of a cluster: its release, its service, agents, clusters and allocations.

    ``settings`` are the variables of the role vipu_controller, ``earlier`` what earlier stages of the same plan do
    there. Refused if it cannot be made so.
    """
    own = _with_options(settings, options, ("mode", "user_port", "admin_port", "certificate_addresses"))
    service = service_of(own)
    _check_release(own, look)
    _check_authentication(service, look)
    held_now = predict(_state(service, look), earlier)
    kinds = ("agents", "clusters", "allocations")
    return [
        *resource_steps(release_resources(own), _seen_resources(look)),
        *_service_steps(own, service, look),
        *_entity_steps(_params(options, own, kinds), held_now),
    ]


def tenant_steps(options: Options, settings: Settings, look: Look, earlier: Sequence[Step] = ()) -> list[Step]:
    """Return the vPODs' allocations, users and partitions on their cluster's controller, present or absent."""
    service = service_of(settings)
    params = _params(options, settings, ("allocations", "users", "partitions"))
    gone = sorted(unwanted(declared_by(params))[USER])
    keys = [Absent(f"{service.keys}/{name}.key") for name in gone]
    return [
        *_entity_steps(params, predict(_state(service, look), earlier)),
        *resource_steps(keys, _seen_resources(look)),
    ]


def dedicated_steps(
    options: Sequence[Options], settings: Settings, look: Look, earlier: Sequence[Step] = ()
) -> list[Step]:
    """The dedicated controllers beside that of a cluster: their services, and everything that they hold.

    ``options`` are those of each, with the vPOD's name; ``earlier`` as above, the release among it.
    """
    if not options:
        return []
    own = {**settings, "vipu_controller_dedicated": list(options)}
    _check_release(own, look)
    steps = [step for step in resource_steps(release_resources(own), _seen_resources(look)) if step not in earlier]
    for each in options:
        service = dedicated_service(own, each["name"])
        _check_authentication(service, look)
        steps += _service_steps(own, service, look)
        held_now = predict(_state(service, look), _of_vpod(earlier, service.vpod))
        steps += _dedicated(service.vpod, _entity_steps(_params(each, own, map(plural, KINDS)), held_now))
    return steps


def emptied_steps(options: Sequence[Options], settings: Settings, look: Look) -> list[Step]:
    """Return the removals on dedicated controllers of vPODs that are made again; others are skipped."""
    steps: list[Step] = []
    for each in options:
        service = dedicated_service(settings, each["name"])
        if _is_there(service, look):
            state = _state(service, look)
            steps += _dedicated(service.vpod, _entity_steps(_params(each, settings, map(plural, KINDS)), state))
    return steps


def removed_steps(names: Sequence[str], settings: Settings, look: Look) -> list[Step]:
    """The end of dedicated controllers: all partitions, the service, and everything but a copy of the storage."""
    return [step for name in names for step in _removed(dedicated_service(settings, name), look)]


def entity_steps(options: Options, settings: Settings, look: Look) -> list[Step]:
    """Everything that the controller of a cluster holds, and nothing else of it."""
    return _entity_steps(_params(options, settings, map(plural, KINDS)), _state(service_of(settings), look))


def held(look: Look, is_managed: bool = True) -> dict[str, Any] | None:
    """The contents of a host's controllers, in the form that changes of vPODs need (:data:`.._vpods.teardown.Held`).

    That is ``allocations``, ``users``, ``partitions``, and ``dedicated``, vPOD to all that its own controller holds,
    None for one that does not say. None where the controller of the cluster does not say, unless ``is_managed``: one
    that we set up holds nothing before it has a storage.
    """
    controllers = part(look, "controllers")
    if controllers is None:
        return None
    shared, kinds = controllers[""], ("allocations", "users", "partitions")
    if not _answers(shared) and (shared["storage"] or not is_managed):
        return None
    return {
        **{kind: shared.get(kind, {}) for kind in kinds},
        "dedicated": {
            name: {plural(kind): there[plural(kind)] for kind in KINDS} if _answers(there) else None
            for name, there in controllers.items()
            if name
        },
    }


def silence(look: Look) -> str:
    """Why nobody knows what the controller of a cluster holds, and the remedy; empty where that is known."""
    controllers = part(look, "controllers")
    shared = {"storage": True, "message": missing(look, "controllers")} if controllers is None else controllers[""]
    if _answers(shared) or not shared["storage"]:
        return ""
    remedy = f"start vipu-server on {look['host']}, or correct the controller in pods.yml"
    return f"{shared['message']}; {remedy}"


def moved(shared: Collection[str], dedicated: Collection[str], elsewhere: Mapping[str, str], look: Look) -> list[str]:
    """Why vPODs that should be on the ``shared`` or a ``dedicated`` controller cannot get there.

    ``look`` is that of the host of their cluster's controller, and ``elsewhere`` maps vPODs to other hosts, which their
    dedicated controllers have to themselves.
    """
    controllers = part(look, "controllers") or {"": {}}
    partitions = controllers[""].get("partitions", {}).values()
    on_shared = list(dict.fromkeys(each["allocation"] for each in partitions if each["allocation"] in dedicated))
    on_their_own = [name for name in shared if name in controllers]
    found = []
    if on_shared:
        found.append(
            f"vPOD {', '.join(on_shared)} shall have a dedicated controller, and has partitions on the shared one of "
            f"{look['host']}; they cannot move: declare `controller: shared` again, or make the vPOD absent first"
        )
    if on_their_own:
        found.append(
            f"vPOD {', '.join(on_their_own)} shall be on the shared controller of {look['host']}, and has a dedicated "
            "one there; users and partitions cannot move: declare `controller: dedicated` again, or make the vPOD "
            "absent first"
        )
    for name, host in elsewhere.items():
        if name in controllers:
            found.append(
                f"vPOD {name} shall have its dedicated controller on {host}, and has it on {look['host']}; users and "
                f"partitions cannot move: leave vpods.{name}.controller_address out, or make the vPOD absent first, "
                "without it"
            )
    return found


def entity_findings(
    controllers: Mapping[str, Options], look: Look, steps: Sequence[Step], machines: Collection[str]
) -> list[Finding]:
    """Return what does not work of the declared agents and partitions of a host's controllers.

    ``controllers`` has the options of each, by the vPOD whose dedicated one it is, empty for that of a cluster;
    ``steps`` are all that the plan does there, ``machines`` the IPU-Machines that have to work.
    """
    found: dict[Finding, None] = {}
    for vpod, options in controllers.items():
        there = (part(look, "controllers") or {}).get(vpod, {})
        if _answers(there):
            params = {kind: options[kind] for kind in map(plural, KINDS) if kind in options}
            state = predict(_entities(there), _of_vpod(steps, vpod))
            found.update(dict.fromkeys(_of_agents(look["host"], params.get("agents", ()), state, machines)))
            for name, (what, remedy) in troubles(declared_by(params), state).items():
                found[Finding(PARTITION, name, what, remedy)] = None
    return list(found)


def _of_agents(host: str, agents: Sequence[Options], state: State, machines: Collection[str]) -> Iterator[Finding]:
    for agent in agents:
        name = agent["name"]
        status = state[AGENT].get(name, {}).get("status") or UNKNOWN
        if name in machines and status.lower() not in (UP, UNKNOWN):
            what = f"agent {name} is {status}, says the V-IPU controller on {host}"
            remedy = f"start it again at {agent['host']}, or declare {name} `excluded` in its pod while it is repaired"
            yield Finding(AGENT, name, what, remedy)


def needs_decision_point(steps: Sequence[Step], look: Look) -> bool:
    """Whether only the controller of a cluster can tell where new allocations lie, because it takes no agents."""
    is_made = any((step.action, step.kind) == (CREATE, ALLOCATION) for step in steps)
    return is_made and not allocates_by_agents(look)


def allocates_by_agents(look: Look | None) -> bool:
    """Whether the controller of a cluster can be told which IPU-Machines an allocation is to have."""
    shared = (part(look, "controllers") or {}).get("", {})
    return bool(shared.get("allocates_by_agents", False))


def _params(options: Options, settings: Settings, kinds: Iterable[str]) -> dict[str, Any]:
    """The options of the module vipu_state, as the role gives them."""
    own = _with_options(settings, options, ("strict_sizes", "any_replica_size"))
    return {
        **{kind: options[kind] for kind in kinds if kind in options},
        "strict_sizes": own["vipu_controller_strict_sizes"],
        "any_replica_size": own["vipu_controller_any_replica_size"],
        "key_directory": f"{own['vipu_controller_directory']}/keys",
    }


def _with_options(settings: Settings, options: Options, names: Iterable[str]) -> dict[str, Any]:
    """The role's variables, as a play gives them to it."""
    return {**settings, **{f"vipu_controller_{name}": options[name] for name in names if name in options}}


def _entity_steps(params: Mapping[str, Any], state: State) -> list[Step]:
    return plan(declared_by(params), state, policy_of(params))


def _dedicated(vpod: str, steps: Iterable[Step]) -> list[Step]:
    return [DedicatedStep(**vars(step), vpod=vpod) for step in steps]


def _of_vpod(steps: Iterable[Step], vpod: str) -> list[Step]:
    """The steps on what one controller holds; with an empty name all but those of dedicated ones."""
    return [step for step in steps if vpod_of(step) == vpod]


def _service_steps(settings: Settings, service: Service, look: Look) -> list[Step]:
    seen = _seen_resources(look)
    resources = service_resources(settings, service.vpod, seen)
    if service.storage not in seen["paths"]:
        # They come with the storage.
        resources = [each for each in resources if not (isinstance(each, Made) and each.name == MAKE_CERTIFICATES)]
    own = as_wanted_user(service, settings, seen)
    check_storage(own)
    return [*_move(own, look), *resource_steps(resources, seen)]


def _move(service: Service, look: Look) -> list[Step]:
    """The move of a controller that is there to another user, refused under partitions."""
    seen = _seen_resources(look)
    if not is_moved(service, seen):
        return []
    reason = f"it runs as {user_there(service, seen)}, wanted {service.user}"
    is_finished = service.unfinished not in seen["paths"]
    if is_finished and service.is_secure and service.credentials not in seen["paths"]:
        raise Refused(
            f"{service.unit} on {look['host']} cannot become secure and be moved to user {service.user} in one run; "
            "leave vipu_controller_user out for this one"
        )
    partitions = _state(service, look)[PARTITION]
    if partitions:
        raise Refused(
            f"The V-IPU controller on {look['host']} holds partitions ({', '.join(partitions)}) and is not "
            f"moved to user {service.user} under them; remove them first, or leave vipu_controller_user out"
        )
    return [Step(RUN, TASK, MOVE, reason, DISRUPTIVE, before={}, after={})]


def _removed(service: Service, look: Look) -> list[Step]:
    seen = _seen_resources(look)
    steps: list[Step] = []
    if _is_there(service, look):
        purge = {"purge": {"partitions_of": [service.vpod], "max_deletions": ALL}}
        steps += _dedicated(service.vpod, _entity_steps(purge, _state(service, look)))
        steps += resource_steps([Unit(service.unit, enabled=False, state="stopped"), Absent(service.unit_file)], seen)
    if service.storage in seen["paths"]:
        steps.append(Step(RUN, TASK, KEEP_STORAGE, f"{service.storage} is there", before={}, after={}))
    left = (service.directory, service.credentials, service.backup_program, service.log_rotation)
    account = Account(service.account, service.directory, is_there=False)
    return [*steps, *resource_steps([*(Absent(path) for path in left), account], seen)]


def _seen_resources(look: Look) -> Mapping[str, Any]:
    found = part(look, "things")
    if found is None:
        raise Refused(f"what is on {look['host']} could not be read: {missing(look, 'things')}")
    return found


def _controllers(look: Look) -> Mapping[str, Mapping[str, Any]]:
    found = part(look, "controllers")
    if found is None:
        raise Refused(silence(look))
    return found


def _is_there(service: Service, look: Look) -> bool:
    """Whether a vPOD has a dedicated controller, which is where it has a unit."""
    return service.vpod in _controllers(look)


def _answers(controller: Mapping[str, Any]) -> bool:
    """Whether a controller has answered with its contents."""
    return "allocations" in controller


def _state(service: Service, look: Look) -> State:
    """Return the entities of a controller; none before it is set up. Refused if it is there and does not say."""
    found = _controllers(look).get(service.vpod, {"storage": False})
    if _answers(found):
        return _entities(found)
    if not found["storage"]:
        return empty_state()
    if service.vpod:
        raise Refused(f"{found['message']}; start {service.name} on {look['host']}")
    raise Refused(silence(look))


def _entities(controller: Mapping[str, Any]) -> State:
    return {kind: controller[plural(kind)] for kind in KINDS}


def _check_release(settings: Settings, look: Look) -> None:
    """There is a program, or an archive with one."""
    program, archive = settings["vipu_controller_program"], settings["vipu_controller_archive"]
    if not archive and program not in _seen_resources(look)["paths"]:
        raise Refused(
            f"{look['host']} has no {program}; set vipu_controller_archive to the vendor's tarball on the control node "
            "and vipu_controller_release to its release, or correct vipu_controller_program"
        )
    if archive:
        check_archive(settings, "vipu_controller")


def _check_authentication(service: Service, look: Look) -> None:
    """A change between secure and insecure must not lock anybody out."""
    paths, host = _seen_resources(look)["paths"], look["host"]
    if not service.is_secure and service.credentials in paths:
        raise Refused(
            f"The V-IPU controller on {host} is in secure mode ({service.credentials} is there), but pods.yml says "
            "insecure; declare its mode as secure, or take authentication off by hand"
        )
    if not service.is_secure or service.storage not in paths or service.credentials in paths:
        return
    # An earlier run has not come further; nobody can have made partitions there.
    if service.unfinished in paths:
        return
    there = _controllers(look).get(service.vpod, {"message": f"{service.name} does not run on {host}"})
    if not _answers(there):
        raise Refused(
            f"{there['message']}; whether partitions are active cannot be known, so secure mode is not switched on. If "
            "the controller is secure already, write its administrator's api-user-id, api-access-key and tls-certs "
            f"into {service.credentials} (mode 0600)"
        )
    if there["partitions"]:
        raise Refused(
            f"The V-IPU controller on {host} holds partitions ({', '.join(there['partitions'])}) and is not switched "
            "to secure mode under them; remove them first, or leave mode out"
        )
