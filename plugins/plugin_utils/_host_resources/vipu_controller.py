# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The resources of the role vipu_controller: a V-IPU release, and a service for each controller. Pure.

A vPOD's dedicated controller is a service of its own, and all that it has carries the vPOD's name.

A new controller runs as a user of its own, who can write into its directory, and there neither remove nor replace what
is root's: the directory is root's and sticky. So what root keeps there (access keys, certificates, copies, the log) is
what root has put there. A controller that is there already keeps its user, unless another one is declared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from types import MappingProxyType
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._look.controllers import UNFINISHED
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused

from .._templates.render import render
from .resources import Account, Directory, File, Link, Made, Resource, Unit

# The variables of the role, by name.
Settings = Mapping[str, Any]
# The part "things" of a look.
Seen = Mapping[str, Any]
NOTHING: Seen = MappingProxyType({"paths": {}, "texts": {}})

_SHA256 = re.compile("[0-9a-fA-F]{64}")
PROGRAMS = ("vipu", "vipu-admin", "vipu-server")

COPY_ARCHIVE = "Copy the release's archive"
INSTALL_RELEASE = "Install the release"
INITIALISE_STORAGE = "Initialise the storage"
MAKE_CERTIFICATES = "Make the TLS certificates"
CERTIFY_ADDRESSES = "Certify the controller's addresses in clouds"
KEEP_CREDENTIALS = "Keep the administrator's credentials"
MOVE = "Move the controller to its user"

ROOT = "root"
_USER = re.compile(r"^User=(\S+)", re.MULTILINE)
# What useradd takes on every distribution.
_ACCOUNT_NAME = re.compile(r"[a-z_][a-z0-9_-]{0,31}")


@dataclass
class Service:
    """One V-IPU controller on a host: how it is started, and where it has what."""

    vpod: str  # whose dedicated controller it is; empty for that of a cluster
    directory: str  # that it works in, with certificates and users' access keys
    storage: str  # its storage file
    backup_directory: str  # where copies of the storage are
    is_secure: bool  # whether it authenticates its users
    user_port: int
    admin_port: int
    metrics_port: int = 0  # 0 for the program's own
    interfaces: tuple[str, ...] = ()  # where it listens for agents that announce themselves
    addresses: tuple[str, ...] = ()  # that its certificate is for, beside its own names
    user: str = ROOT  # that it runs as

    def __post_init__(self) -> None:
        suffix = f"-{self.vpod}" if self.vpod else ""
        self.name = f"vipu-server{suffix}"
        self.unit = f"{self.name}.service"
        self.unit_file = f"/etc/systemd/system/{self.unit}"
        self.backup_program = f"/usr/local/sbin/vipu-backup{suffix}"
        # The user of its own that it has or could have.
        is_account_name = _ACCOUNT_NAME.fullmatch(self.name)
        self.account = self.name if is_account_name else f"vipu-server-{sha256(self.vpod.encode()).hexdigest()[:12]}"
        self.is_confined = self.user == self.account
        # What a controller that authenticates its users prints: its first start may print an access key.
        self.log_directory = f"{self.directory}/log" if self.is_confined else self.directory
        self.log = f"{self.log_directory}/vipu-server.log"
        self.log_rotation = f"/etc/logrotate.d/{self.name}"
        # The administrator's configuration of vipu-admin.
        self.credentials = f"/etc/vipu/vipu-admin{suffix}.hcl"
        # There from before its storage is initialised until it answers and, if it is secure, these are kept.
        self.unfinished = f"{self.storage}{UNFINISHED}"
        # vipu-server puts them below the directory that it runs in.
        self.certificates = f"{self.directory}/vipu-certs"
        # A copy of its certificate for just these addresses, by whose name it is known that they are certified.
        self.certified = f"{self.certificates}/{'_'.join(self.addresses)}.crt"
        # The access keys of V-IPU's users.
        self.keys = f"{self.directory}/keys"


def user_there(service: Service, seen: Seen) -> str:
    """The user that a controller runs as; that of its storage where it has no unit yet, empty where it has neither."""
    if service.unit_file in seen["paths"]:
        found = _USER.search(seen["texts"].get(service.unit_file, ""))
        return found.group(1) if found else ROOT
    return str(seen["paths"][service.storage]["owner"]) if service.storage in seen["paths"] else ""


def as_wanted_user(service: Service, settings: Settings, seen: Seen) -> Service:
    """The same controller with the user that it is to run as."""
    users = {"own": service.account, "root": ROOT, "keep": user_there(service, seen) or service.account}
    return replace(service, user=users[settings["vipu_controller_user"]])


def check_storage(service: Service) -> None:
    """Its user can write its storage; else it is Refused."""
    if service.is_confined and service.storage.rpartition("/")[0] != service.directory:
        raise Refused(
            f"vipu_controller_storage is {service.storage}, where a controller with a user of its own could not write; "
            f"choose a file in vipu_controller_directory ({service.directory}), or set vipu_controller_user to root"
        )


def running_as(settings: Settings, vpod: str = "", seen: Seen = NOTHING) -> dict[str, str]:
    """Whom a controller runs as, ``user_there``, and whom it is to run as, ``user``; ``account`` is its own user.

    Raises:
        Refused: that user could not write its storage.
    """
    service = as_wanted_user(_service(settings, vpod), settings, seen)
    check_storage(service)
    return {"user": service.user, "user_there": user_there(service, seen), "account": service.account}


def is_moved(service: Service, seen: Seen) -> bool:
    """Whether a controller that is there gets another user."""
    return user_there(service, seen) not in ("", service.user)


def _service(settings: Settings, vpod: str) -> Service:
    return dedicated_service(settings, vpod) if vpod else service_of(settings)


def service_of(settings: Settings) -> Service:
    """The controller of a cluster."""
    return Service(
        vpod="",
        directory=settings["vipu_controller_directory"],
        storage=settings["vipu_controller_storage"],
        backup_directory=settings["vipu_controller_backup_directory"],
        is_secure=settings["vipu_controller_mode"] == "secure",
        user_port=settings["vipu_controller_user_port"],
        admin_port=settings["vipu_controller_admin_port"],
        interfaces=tuple(settings["vipu_controller_autodiscovery_interfaces"]),
        addresses=tuple(settings["vipu_controller_certificate_addresses"]),
    )


def dedicated_service(settings: Settings, vpod: str) -> Service:
    """The dedicated controller of a vPOD, as ``vipu_controller_dedicated`` has it.

    One that is not in there, because it goes, has the places of one that is.
    """
    own: Settings = next((each for each in settings["vipu_controller_dedicated"] if each["name"] == vpod), {})
    directory = f"{settings['vipu_controller_dedicated_parent']}/vipu-server-{vpod}"
    return Service(
        vpod=vpod,
        directory=directory,
        storage=f"{directory}/vipu-server.json",
        backup_directory=f"{directory}/backups",
        is_secure=own.get("mode") == "secure",
        user_port=own.get("user_port", 0),
        admin_port=own.get("admin_port", 0),
        metrics_port=own.get("metrics_port", 0),
        addresses=tuple(own.get("certificate_addresses", ())),
    )


def vipu_controller_resources(settings: Settings, vpod: str = "", seen: Seen = NOTHING) -> list[Resource]:
    """Return the ordered resources of a cluster's controller, or of a vPOD's dedicated one."""
    return [*release_resources(settings), *service_resources(settings, vpod, seen)]


def release_resources(settings: Settings) -> list[Resource]:
    """A release of V-IPU from the vendor's archive, beside others; nothing without an archive."""
    if not settings["vipu_controller_archive"]:
        return []
    return installed_release(settings["vipu_controller_program"], settings["vipu_controller_program_links"], PROGRAMS)


def check_archive(settings: Settings, role: str) -> None:
    """Refused unless the release and the checksum of the archive are stated; ``role`` is whose variables say it."""
    if not settings[f"{role}_release"]:
        raise Refused(f"{role}_release is missing; set it to the release of {role}_archive, like 1.18.0")
    if not _SHA256.fullmatch(settings[f"{role}_archive_sha256"]):
        raise Refused(
            f"{role}_archive_sha256 is not the SHA-256 checksum of {role}_archive, 64 hexadecimal digits; set it to "
            "what the vendor states, or to what sha256sum says of an archive that you trust"
        )


def installed_release(program: str, links: str, programs: Iterable[str]) -> list[Resource]:
    """What is made of an archive: ``program``, and links to ``programs`` beside it in the directory ``links``."""
    folder = program.rpartition("/")[0]
    return [
        Made(COPY_ARCHIVE, program),
        Made(INSTALL_RELEASE, program),
        *(Link(f"{links}/{name}", f"{folder}/{name}") for name in programs),
    ]


def service_resources(settings: Settings, vpod: str = "", seen: Seen = NOTHING) -> list[Resource]:
    """One controller's service: its user, its storage, which is made once, what copies that, and the unit."""
    service = as_wanted_user(_service(settings, vpod), settings, seen)
    program = settings["vipu_controller_program"]
    backup, unit, rotation = (
        render(name, service=service, settings=settings, literal=repr)
        for name in ("vipu-backup.py", "vipu-server.service", "vipu-logrotate.conf")
    )
    certified = (service.certified,) if service.is_secure and service.addresses else ()
    return [
        *_directories(service),
        Made(INITIALISE_STORAGE, service.storage),
        *([Made(MAKE_CERTIFICATES, f"{service.certificates}/server")] if service.is_secure else []),
        *(Made(CERTIFY_ADDRESSES, path) for path in certified),
        File(service.backup_program, backup, mode="0755"),
        *([File(service.log_rotation, rotation)] if service.is_secure else []),
        File(service.unit_file, unit),
        Unit(service.unit, restarted_by=(service.unit_file, program, *certified)),
        *([Made(KEEP_CREDENTIALS, service.credentials)] if service.is_secure else []),
    ]


def _directories(service: Service) -> list[Resource]:
    if not service.is_confined:
        return [Directory(service.directory, owner=service.user, mode="0700")]
    return [
        Account(service.account, service.directory),
        Directory(service.directory, group=service.account, mode="1770"),
        Directory(service.keys, mode="0700"),
        Directory(service.backup_directory, mode="0700"),
        Directory(service.log_directory, mode="0700"),
    ]


def looked_controllers(settings: Settings, vpods: Iterable[str] = ()) -> dict[str, list[str]]:
    """The options of host_look, by name, for all that is compared beside :func:`vipu_controller_resources`.

    ``vpods`` have, should have or may have had a dedicated controller here.
    """
    shared, services = service_of(settings), [dedicated_service(settings, vpod) for vpod in vpods]
    own = [path for service in services for path in _paths(service)]
    return {
        "paths": [settings["vipu_controller_program"], *_paths(shared), f"{shared.keys}/*.key", *own],
        "texts": [path for service in services for path in _files(service)],
        "units": [service.unit for service in services],
        "accounts": [service.account for service in services],
    }


def _files(service: Service) -> tuple[str, ...]:
    return service.backup_program, service.log_rotation, service.unit_file


def _paths(service: Service) -> tuple[str, ...]:
    return (
        service.directory,
        service.keys,
        service.backup_directory,
        f"{service.directory}/log",
        service.storage,
        service.unfinished,
        f"{service.certificates}/server",
        f"{service.certificates}/*.crt",
        *_files(service),
        service.credentials,
    )
