# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The resources of the role vipu_controller: a V-IPU release, and a service for each controller. Pure.

A vPOD's dedicated controller is a service of its own, and all that it has carries the vPOD's name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._look.controllers import UNFINISHED

from .._templates.render import render
from .resources import Directory, File, Link, Made, Resource, Unit

# The variables of the role, by name.
Settings = Mapping[str, Any]

PROGRAMS = ("vipu", "vipu-admin", "vipu-server")

COPY_ARCHIVE = "Copy the release's archive"
INSTALL_RELEASE = "Install the release"
INITIALISE_STORAGE = "Initialise the storage"
MAKE_CERTIFICATES = "Make the TLS certificates"
KEEP_CREDENTIALS = "Keep the administrator's credentials"


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

    def __post_init__(self) -> None:
        suffix = f"-{self.vpod}" if self.vpod else ""
        self.name = f"vipu-server{suffix}"
        self.unit = f"{self.name}.service"
        self.unit_file = f"/etc/systemd/system/{self.unit}"
        self.backup_program = f"/usr/local/sbin/vipu-backup{suffix}"
        # What a controller that authenticates its users prints: its first start may print an access key.
        self.log = f"{self.directory}/vipu-server.log"
        self.log_rotation = f"/etc/logrotate.d/{self.name}"
        # The administrator's configuration of vipu-admin.
        self.credentials = f"/etc/vipu/vipu-admin{suffix}.hcl"
        # There from before its storage is initialised until these are kept.
        self.unfinished = f"{self.storage}{UNFINISHED}"
        # vipu-server puts them below the directory that it runs in.
        self.certificates = f"{self.directory}/vipu-certs"


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
    )


def vipu_controller_resources(settings: Settings, vpod: str = "") -> list[Resource]:
    """Return the ordered resources of a cluster's controller, or of a vPOD's dedicated one."""
    return [*release_resources(settings), *service_resources(settings, vpod)]


def release_resources(settings: Settings) -> list[Resource]:
    """A release of V-IPU from the vendor's archive, beside others; nothing without an archive."""
    if not settings["vipu_controller_archive"]:
        return []
    program, links = settings["vipu_controller_program"], settings["vipu_controller_program_links"]
    folder = program.rpartition("/")[0]
    return [
        Made(COPY_ARCHIVE, program),
        Made(INSTALL_RELEASE, program),
        *(Link(f"{links}/{name}", f"{folder}/{name}") for name in PROGRAMS),
    ]


def service_resources(settings: Settings, vpod: str = "") -> list[Resource]:
    """One controller's service: its storage, which is made once, what copies that, and the unit."""
    service = dedicated_service(settings, vpod) if vpod else service_of(settings)
    program = settings["vipu_controller_program"]
    backup, unit, rotation = (
        render(name, service=service, settings=settings, literal=repr)
        for name in ("vipu-backup.py", "vipu-server.service", "vipu-logrotate.conf")
    )
    return [
        Directory(service.directory, mode="0700"),
        Made(INITIALISE_STORAGE, service.storage),
        *([Made(MAKE_CERTIFICATES, f"{service.certificates}/server")] if service.is_secure else []),
        File(service.backup_program, backup, mode="0755"),
        *([File(service.log_rotation, rotation)] if service.is_secure else []),
        File(service.unit_file, unit),
        Unit(service.unit, restarted_by=(service.unit_file, program)),
        *([Made(KEEP_CREDENTIALS, service.credentials)] if service.is_secure else []),
    ]


def looked_controllers(settings: Settings, vpods: Iterable[str] = ()) -> dict[str, list[str]]:
    """The options of host_look, by name, for all that is compared beside :func:`vipu_controller_resources`.

    ``vpods`` have, should have or may have had a dedicated controller here.
    """
    shared, services = service_of(settings), [dedicated_service(settings, vpod) for vpod in vpods]
    own = [path for service in services for path in _paths(service)]
    return {
        "paths": [settings["vipu_controller_program"], *_paths(shared), f"{shared.directory}/keys/*.key", *own],
        "texts": [path for service in services for path in _files(service)],
        "units": [service.unit for service in services],
    }


def _files(service: Service) -> tuple[str, ...]:
    return service.backup_program, service.log_rotation, service.unit_file


def _paths(service: Service) -> tuple[str, ...]:
    return (
        service.directory,
        service.storage,
        service.unfinished,
        f"{service.certificates}/server",
        *_files(service),
        service.credentials,
    )
