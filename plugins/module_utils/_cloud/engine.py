# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cloud on its way to what is wanted: look, plan, apply, look again."""

from __future__ import annotations

import base64
import hashlib
from typing import Any, Iterable, Sequence

from .._plan.converge import DeviceError, Outcome, Refused, one_by_one
from .._plan.module import run
from .._plan.steps import State, Step
from .apply import Applier
from .client import Cloud, connect
from .entities import IMAGE, Desired, Look, plural, things
from .found import Found
from .look import look_at_cloud
from .planner import kept, machines_to_make, plan
from .wanted import wanted

_AT_ONCE = 1 << 20


class Engine:
    """One change of a cloud; read, plan and apply are those of :func:`.._plan.converge.converge`."""

    def __init__(self, cloud: Cloud, desired: Desired, allow_interruption: Sequence[str], wait_timeout: float) -> None:
        self.desired = desired
        self.look: Look = {}
        self._cloud = cloud
        self._allowed = allow_interruption
        self._wait_timeout = wait_timeout
        self._applier: Any = None
        self._user_data: dict[str, str] = {}

    def read(self) -> State:
        """What of the cloud concerns the options."""
        self.look = look_at_cloud(self._cloud)
        found = Found(self.desired, self.look, wanted(self.desired, self.look))
        self._applier = Applier(self._cloud, self.desired, found, self._wait_timeout, self._user_data)
        return found.state

    def plan(self, _state: State) -> list[Step]:
        """The ordered steps, on what was read last; for machines that are to be made, their user data are read."""
        steps = plan(self.desired, self.look, self._allowed)
        if self.desired.get("user_data"):
            self._user_data.update(_user_data(self.desired["user_data"], steps))
        return steps

    def carry_out(self, step: Step) -> None:
        """Do one step."""
        self._applier.carry_out(step)

    def kept(self) -> list[str]:
        """What stays although no vPOD has it any more, in a sentence each."""
        return kept(self.desired, self.look)


def run_module(module: Any) -> None:
    """Do what an ``AnsibleModule`` with the options of ``ipu.pod.cloud_state`` asks, and end it."""
    params = module.params
    try:
        desired = with_checksums({**params})
        engine = Engine(connect(params["entry"]), desired, params["allow_interruption"], params["wait_timeout"])
    except (DeviceError, Refused) as error:
        module.fail_json(msg=str(error), changed=False)

    def extra(_outcome: Outcome) -> dict[str, Any]:
        return {"kept": engine.kept()}

    run(module, engine.read, engine.plan, one_by_one(engine.carry_out), extra=extra)


def with_checksums(desired: Desired) -> Desired:
    """The options with the checksum of each image's file.

    Raises:
        Refused: a file cannot be read.
    """
    images = [{**each, "sha512": _checksum(each["name"], each["file"])} for each in things(desired, IMAGE)]
    return {**desired, plural(IMAGE): images}


def _user_data(directory: str, steps: Iterable[Step]) -> dict[str, str]:
    """VPODs of which a machine is to be made, to what it gets, as Nova takes it."""
    found = {}
    for vpod, name in machines_to_make(steps).items():
        path = f"{directory}/{vpod}.yml"
        try:
            with open(path, "rb") as data:
                found[vpod] = base64.b64encode(data.read()).decode()
        except OSError as error:
            raise Refused(
                f"server {name}: its user data {path} cannot be read ({error.strerror}); have cloud_user_data write it"
            ) from error
    return found


def _checksum(name: str, path: str) -> str:
    digest = hashlib.sha512()
    try:
        with open(path, "rb") as data:
            for part in iter(lambda: data.read(_AT_ONCE), b""):
                digest.update(part)
    except OSError as error:
        raise Refused(
            f"image {name}: {path} cannot be read ({error.strerror}); correct its file, or what its owner lets read"
        ) from error
    return digest.hexdigest()
