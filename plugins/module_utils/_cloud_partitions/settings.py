# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that the role writes for the program: what it looks after, and with which credentials. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from typing import Any, Mapping

from .._plan.converge import Refused

PATH = "/etc/ipu-pod/cloud-partitions.json"
CREDENTIALS_PATH = "/etc/ipu-pod/cloud-partitions-clouds.json"
_REMEDY = "run the role cloud_partitions again, which writes this file"


@dataclass(frozen=True)
class Vpod:
    """A vPOD with machines in a cloud.

    Args:
        allocation: its V-IPU allocation.
        cloud: the cloud's name among the credentials.
        project: its project there, and the project's domain.
        declared: partitions of the operator, which are no machine's whatever they are called.
        admin_port: the port for administrators of its V-IPU controller.
        vipu_config: the configuration file of ``vipu-admin`` for it; empty if none is needed.
    """

    name: str
    allocation: str
    cloud: str
    project: str
    domain: str
    declared: tuple[str, ...]
    admin_port: int
    vipu_config: str


@dataclass(frozen=True)
class Settings:
    """The settings; ``wait`` is how many seconds lie between the two answers that a machine is deleted."""

    wait: float
    state: str
    vpods: tuple[Vpod, ...]


@dataclass(frozen=True)
class Credentials:
    """How to log in to a cloud: an entry of clouds.yaml.

    Args:
        auth: how Keystone knows us: ``auth_url`` and a user with a password, or an application credential.
        region: the region to use; empty if there is but one.
        interface: which of the cloud's addresses to use.
        ca_file: the authority of its TLS certificates; empty for those that the host trusts.
    """

    auth: Mapping[str, str] = field(repr=False)
    region: str = ""
    interface: str = "public"
    ca_file: str = ""


def settings_from(text: str) -> Settings:
    """The settings in their file. Raises Refused: it is not what the role writes."""
    try:
        data = _known(Settings, json.loads(text))
        vpods = [_known(Vpod, vpod) for vpod in data["vpods"]]
        found = [Vpod(**{**vpod, "declared": tuple(vpod["declared"])}) for vpod in vpods]
        return Settings(float(data["wait"]), data["state"], tuple(found))
    except (ValueError, TypeError) as error:
        raise Refused(f"{PATH}: {error}; {_REMEDY}") from None


def credentials_from(text: str, cloud: str) -> Credentials:
    """The credentials for a cloud in their file; no message quotes it. Raises Refused: there are none."""
    try:
        entry = json.loads(text)["clouds"][cloud]
        auth = {str(key): str(value) for key, value in entry["auth"].items()}
        found = Credentials(
            auth, entry.get("region_name", ""), entry.get("interface", "public"), entry.get("cacert", "")
        )
    except (ValueError, LookupError, TypeError, AttributeError):
        raise Refused(f"{CREDENTIALS_PATH}: there is no entry for {cloud}; {_REMEDY}") from None
    by_user, by_credential = {"username", "password"}, {"application_credential_id", "application_credential_secret"}
    if "auth_url" not in auth or not (by_user <= set(auth) or by_credential <= set(auth)):
        raise Refused(
            f"{CREDENTIALS_PATH}: {cloud} has no auth_url with username and password, or with "
            "application_credential_id and application_credential_secret; correct cloud_partitions_clouds"
        )
    return found


def _known(kind: Any, data: Any) -> dict[str, Any]:
    """The data, which have exactly the fields of a kind."""
    wanted = {known.name for known in fields(kind)}
    if not isinstance(data, dict) or set(data) != wanted:
        raise ValueError(f"this is not a JSON object with {', '.join(sorted(wanted))}")
    return data
