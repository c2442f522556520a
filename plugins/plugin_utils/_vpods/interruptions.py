# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which running work a change would end, and why it is refused unless somebody says that it may. Pure.

In use is what Slurm, RDMA queue pairs and the controller say together; what is not known counts as in use.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from .._link_checks.ends import untagged_vlans
from .._pod.devices import IPU_MACHINE, devices_of, ports_of
from .._pod.model import Declaration, Vpod, is_of_a_job
from .changes import VpodChange
from .scope import Desired
from .strays import Seen, vpods_reaching
from .teardown import Held, dedicated_of, regranted, reshaped

DEAD = "ERROR"
# Of a vPOD that pods.yml no longer has; nobody knows which ones to ask.
SOME_SERVERS = "its Poplar servers"


@dataclass(frozen=True)
class Interruption:
    """The impact of a run on running work."""

    vpod: str  # whose
    why: tuple[str, ...]  # what is done, each a sentence without its end
    servers: tuple[str, ...] = ()  # the Poplar servers on which work would end
    partitions: tuple[str, ...] | None = ()  # those that would die and may be in use; None where nobody can tell
    users: tuple[str, ...] = ()  # those who get other access keys
    # The allocations of Slurm's jobs on IPU-Machines that leave the vPOD. Only Slurm may remove them.
    jobs: tuple[str, ...] = ()


def interruptions(
    declaration: Declaration, changes: Mapping[str, VpodChange], wanted: Desired, held: Held, seen: Seen
) -> list[Interruption]:
    """Everything that somebody may feel, one for each vPOD.

    ``seen`` maps switches to what tor_info has returned; those that were not read are missing.
    """
    found: dict[str, Interruption] = {}
    for one in (
        *_by_allocation(declaration, changes, held),
        *_by_network(declaration, changes, wanted, held, seen),
        *_by_user(wanted, held),
        *_by_partition(wanted, held),
    ):
        found[one.vpod] = _together(found[one.vpod], one) if one.vpod in found else one
    return list(found.values())


def refusals(
    impact: Sequence[Interruption], uses: Mapping[str, Sequence[str] | None], allowed: Collection[str]
) -> list[str]:
    """Why the run does not go on, one sentence for each vPOD whose work would end and may not, or is a job's to end.

    ``uses`` maps Poplar servers to what runs there, in words; None, or missing, where nobody can tell. The vPODs of
    ``allowed`` may be interrupted.
    """
    asked = [
        f"{'; '.join(one.why)}; that would end what runs there: {', '.join(work)}; end it first, or say with -e "
        f'\'{{"vpods_interrupt": ["{one.vpod}"]}}\' that it may'
        for one in impact
        for work in [list(_work(one, uses))]
        if work and one.vpod not in allowed and not one.jobs
    ]
    words = "there Slurm's jobs have allocations, which nobody else removes"
    left = [f"{'; '.join(one.why)}; {words}: {', '.join(one.jobs)}; end these jobs first" for one in impact if one.jobs]
    return [*asked, *left]


def _work(one: Interruption, uses: Mapping[str, Sequence[str] | None]) -> Iterator[str]:
    if one.partitions is None:
        yield "partitions that cannot be listed"
    for name in one.partitions or ():
        yield f"partition {name}"
    for server in one.servers:
        words = uses.get(server)
        if words is None:
            yield f"whatever runs on {server}, which cannot be asked"
        for word in words or ():
            yield f"{word} on {server}"
    for user in one.users:
        yield f"the access key of user {user}"


def _together(one: Interruption, other: Interruption) -> Interruption:
    unknown = one.partitions is None or other.partitions is None
    return replace(
        one,
        why=tuple(dict.fromkeys([*one.why, *other.why])),
        servers=tuple(dict.fromkeys([*one.servers, *other.servers])),
        partitions=None if unknown else tuple(dict.fromkeys([*(one.partitions or ()), *(other.partitions or ())])),
        users=tuple(dict.fromkeys([*one.users, *other.users])),
        jobs=tuple(dict.fromkeys([*one.jobs, *other.jobs])),
    )


def _by_allocation(declaration: Declaration, changes: Mapping[str, VpodChange], held: Held) -> Iterator[Interruption]:
    vpods = {**declaration.absent, **declaration.vpods}
    for change in changes.values():
        if change.goes_down:
            vpod = vpods[change.vpod]
            partitions = _partitions(declaration, vpod, held)
            users = _users(declaration, change, vpod, held)
            yield Interruption(change.vpod, (str(change),), vpod.poplar_servers, partitions, users)


def _partitions(declaration: Declaration, vpod: Vpod, held: Held) -> tuple[str, ...] | None:
    """The partitions of a vPOD that may be in use, on the shared controller or on a dedicated one."""
    shared = held.get(declaration.controller_of(vpod).host_name, {}).get("partitions")
    dedicated = held.get(declaration.dedicated_host(vpod), {}).get("dedicated")
    # The declaration of a vPOD that is to go may leave out that it has one.
    own = (dedicated or {}).get(vpod.name, None if dedicated is None and vpod.is_dedicated else {})
    if shared is None or own is None:
        return None
    reserved = {name: each for name, each in shared.items() if each["allocation"] == vpod.name}
    own_partitions = own.get("partitions", {})
    return tuple(name for name, each in {**reserved, **own_partitions}.items() if each.get("status") != DEAD)


def _users(declaration: Declaration, change: VpodChange, vpod: Vpod, held: Held) -> tuple[str, ...]:
    """The users of a vPOD that comes again, who are made again, too; those of a dedicated controller go with it."""
    there = {name for controller in held.values() for name in controller.get("users") or {}}
    if vpod.is_dedicated and declaration.controller_of(vpod).is_secure:
        there.update(vpod.users)
    return tuple(name for name in vpod.users if name in there and change.after)


def _by_network(
    declaration: Declaration, changes: Mapping[str, VpodChange], wanted: Desired, held: Held, seen: Seen
) -> Iterator[Interruption]:
    """Devices whose ports leave the VLAN of a tenant."""
    vpods, devices = {**declaration.absent, **declaration.vpods}, devices_of(declaration)
    allocated = {name for controller in held.values() for name in controller.get("allocations") or {}}
    there = {switch: untagged_vlans(options) for switch, options in seen.items()}
    shall_be = {switch: untagged_vlans(options) for switch, options in wanted["tor_switches"].items()}
    for name, tenant in vpods_reaching(declaration, seen).items():
        switch, port = devices[name].facts["switch"], ports_of(devices[name])[0]
        before, after = there[switch][port], shall_be.get(switch, {}).get(port)
        if after is None or before == after:
            continue
        why = f"{name} is to leave VLAN {before} of vPOD {tenant} for VLAN {after}"
        if tenant not in vpods:
            why += f", which pods.yml no longer has (declare vpods.{tenant} with state: absent to remove it)"
        theirs = vpods[tenant].poplar_servers if tenant in vpods else (SOME_SERVERS,) * (tenant in allocated)
        leaves = tenant not in changes or name not in changes[tenant].after
        jobs = tuple(_jobs_on(name, held)) if leaves else ()
        yield Interruption(tenant, (why,), theirs if devices[name].kind == IPU_MACHINE else (name,), jobs=jobs)


def _jobs_on(machine: str, held: Held) -> Iterator[str]:
    for controller in held.values():
        for name, allocation in (controller.get("allocations") or {}).items():
            if is_of_a_job("allocation", name) and machine in allocation["agents"]:
                yield name


def _by_user(wanted: Desired, held: Held) -> Iterator[Interruption]:
    """vPODs that stay, one of whose users is made again."""
    for host, options in wanted["vipu_controllers"].items():
        for user, allocations in regranted(options, held.get(host, {})).items():
            for vpod in allocations:
                why = f"user {user} is to have other vPODs than {', '.join(allocations)}, and so another access key"
                yield Interruption(vpod, (why,), users=(user,))


def _by_partition(wanted: Desired, held: Held) -> Iterator[Interruption]:
    """vPODs that stay, one of whose partitions is made again."""
    shared = [(options, held.get(host, {})) for host, options in wanted["vipu_controllers"].items()]
    dedicated = [
        (options, dedicated_of(held.get(host, {}), options["name"]))
        for host, controllers in wanted["dedicated_controllers"].items()
        for options in controllers
    ]
    for options, there in [*shared, *dedicated]:
        for name, words in reshaped(options, there).items():
            partition = there["partitions"][name]
            in_use = (name,) if partition.get("status") != DEAD else ()
            yield Interruption(partition["allocation"], (f"partition {name}: {words}",), partitions=in_use)
