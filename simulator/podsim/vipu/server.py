# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`vipu-server`: the simulated V-IPU controller as a program."""

from __future__ import annotations

import argparse
import getpass
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from podsim.vipu import metrics, rules, tls
from podsim.vipu.admin_api import AdminApi
from podsim.vipu.agent_api import RealFleet
from podsim.vipu.controller import DEFAULT_DURATIONS, Controller, Durations
from podsim.vipu.discovery import PORT as DISCOVERY_PORT
from podsim.vipu.discovery import Discovery
from podsim.vipu.entities import State
from podsim.vipu.errors import Refused
from podsim.vipu.faults import Faults
from podsim.vipu.releases import LATEST, check_release
from podsim.vipu.request_log import RequestLog
from podsim.vipu.rpc_server import serve
from podsim.vipu.storage import Storage, StorageError
from podsim.vipu.user_api import UserApi


def main(argv: Sequence[str] | None = None) -> int:
    """Runs until SIGTERM or SIGINT; with --init or --tls-init it only prepares. Returns the exit code."""
    options = _options(argv)
    try:
        if options.init:
            _initialise(options)
        elif options.tls_init:
            _generate_certificates(options)
        else:
            _run(options)
    except (OSError, StorageError, Refused) as error:
        print(f"vipu-server: {error}", file=sys.stderr)
        return 1
    return 0


def _options(argv: Sequence[str] | None) -> Any:
    parser = argparse.ArgumentParser(prog="vipu-server", description="The simulated V-IPU controller.")
    add = parser.add_argument
    add("--listen", default="0.0.0.0", metavar="HOST", help="address of all its ports (default %(default)s)")
    add("--user-port", type=int, default=8090, metavar="N", help="user API (default %(default)s)")
    add(
        "--admin-port",
        type=int,
        default=8091,
        metavar="N",
        help="admin API (default %(default)s); may be the user port, as on old installations",
    )
    add("--metrics-port", type=int, default=2113, metavar="N", help="/metrics (default %(default)s, 0: none)")
    add("--storage", type=Path, default=Path("vipu-server.json"), metavar="FILE", help="(default %(default)s)")
    add("--init", action="store_true", help="create the storage, and do nothing else")
    add("--tls-init", action="store_true", help="generate TLS certificates next to the storage, and do nothing else")
    add("--secure", action="store_true", help="demand TLS client certificates, user id and access key")
    add(
        "--default-user-id",
        default=getpass.getuser(),
        metavar="ID",
        help="administrator that --init --secure creates (default: the user who runs this)",
    )
    add(
        "-a",
        "--autodiscovery-listen-interfaces",
        default="",
        metavar="NAMES",
        help="hear agents that announce themselves on these interfaces (separated by commas)",
    )
    sim = parser.add_argument_group("what the simulated controller has beyond the real one")
    add = sim.add_argument
    add("--release", type=check_release, default=LATEST, help="V-IPU release to be (default %(default)s)")
    add("--request-log", type=Path, metavar="FILE", help="append one JSON line per request")
    add("--faults", type=Path, metavar="FILE", help="JSON file that says what to do wrong; read when it changes")
    add(
        "--creation-time",
        type=float,
        default=DEFAULT_DURATIONS.creation,
        metavar="S",
        help="seconds until a new partition is active (default %(default)s)",
    )
    add("--reset-time", type=float, default=DEFAULT_DURATIONS.reset, metavar="S", help="(default %(default)s)")
    add("--removal-time", type=float, default=DEFAULT_DURATIONS.removal, metavar="S", help="(default %(default)s)")
    add(
        "--auto-reset-delay",
        type=float,
        default=DEFAULT_DURATIONS.auto_reset_delay,
        metavar="S",
        help="seconds that a partition stays in error at least (default %(default)s)",
    )
    add(
        "--poll-interval",
        type=float,
        default=1.0,
        metavar="S",
        help="seconds between two looks at the agents (default %(default)s)",
    )
    add(
        "--discovery-port",
        type=int,
        default=DISCOVERY_PORT,
        metavar="N",
        help="where agents announce themselves (default %(default)s)",
    )
    return parser.parse_args(argv)


def _initialise(options: Any) -> None:
    storage = Storage(options.storage)
    storage.initialise(State())
    print(f"Initialised storage: {options.storage}")
    if options.secure:
        _generate_certificates(options)
        _create_default_user(Controller(storage, RealFleet()), options.default_user_id)


def _generate_certificates(options: Any) -> None:
    from podsim.vipu import tls_generation  # noqa: PLC0415  (only this needs cryptography)

    names = [] if options.listen == "0.0.0.0" else [options.listen]
    server, client = tls_generation.generate(_certificates(options), names)
    print(f"Generated server TLS certificates in the directory: {server}")
    print(f"Generated client TLS certificates in the directory: {client}")


def _certificates(options: Any) -> Path:
    return Path(options.storage).parent / "vipu-certs"


def _create_default_user(controller: Controller, name: str) -> None:
    rules.check_name("user", name)
    access_key = controller.create_user(name, (), admin=True)
    print(f"Default user is: {name}")
    print(f"Access Key is: {access_key}")


def _run(options: Any) -> None:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    faults = Faults(options.faults)
    controller = Controller(
        Storage(options.storage, faults.before_rename),
        RealFleet(),
        Durations(options.creation_time, options.reset_time, options.removal_time, options.auto_reset_delay),
        faults.failing,
    )
    if options.secure and not any(user.admin for user in controller.state().users.values()):
        _create_default_user(controller, options.default_user_id)
    servers = _serve(options, controller, faults)
    if options.metrics_port:
        metrics.serve(options.listen, options.metrics_port, controller.samples)
    print(
        f"vipu-server {options.release}: user API on {options.listen}:{options.user_port},"
        f" admin API on {options.listen}:{options.admin_port}",
        flush=True,
    )
    while not stop.wait(options.poll_interval):
        controller.poll()
    for server in servers:
        server.stop(grace=0.5).wait()


def _serve(options: Any, controller: Controller, faults: Faults) -> list[Any]:
    interfaces = [name for name in options.autodiscovery_listen_interfaces.split(",") if name]
    discovery = Discovery(options.listen, options.discovery_port, interfaces) if interfaces else None
    user_api = UserApi(controller, options.release, options.secure)
    services = {options.user_port: user_api.services()}
    admin_services = AdminApi(controller, user_api, options.release, discovery).services()
    services[options.admin_port] = services.get(options.admin_port, []) + admin_services
    certificates = tls.files(_certificates(options) / "server") if options.secure else None
    log = RequestLog(options.request_log)

    def observe(service: str, method: str) -> None:
        log.note(service, method)
        faults.on_call(method)

    return [serve(f"{options.listen}:{port}", served, observe, certificates) for port, served in services.items()]
