# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`podsim eos`: one simulated switch behind HTTP or HTTPS, and SSH if wanted."""

from __future__ import annotations

import argparse
import os
import ssl
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import asyncssh

from podsim.eos.dataplane import OpenVSwitch
from podsim.eos.eapi_server import EapiServer
from podsim.eos.errors import EosError
from podsim.eos.hardware import DCS_7060CX_32S, MODELS
from podsim.eos.releases import DEFAULT_RELEASE, Release
from podsim.eos.ssh import SshServer
from podsim.eos.switch import NoDataPlane, Switch
from podsim.stopping import stop_requested


def main(argv: Sequence[str] | None = None) -> int:
    """Run one switch until SIGTERM or SIGINT; 1 when it cannot start, with a sentence on stderr."""
    options = _parse(argv)
    try:
        switch = _switch(options)
        ssh = _ssh(options, switch)
        server = _eapi(options, switch)
    except (EosError, OSError, asyncssh.Error) as error:
        print(f"podsim eos: {error}", file=sys.stderr)
        return 1
    stop = stop_requested()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    if ssh:
        ssh.start()
    host, port = server.server_address[:2]
    print(f"eAPI at {'https' if options.cert else 'http'}://{host!s}:{port}/command-api", flush=True)
    if ssh:
        print(f"SSH at {options.ssh[0]}:{ssh.port}", flush=True)
    os.read(stop, 1)
    if ssh:
        ssh.close()
    server.shutdown()
    server.server_close()
    switch.close()
    return 0


def _switch(options: argparse.Namespace) -> Switch:
    hardware = MODELS[options.model]
    data_plane = OpenVSwitch(options.dataplane, options.bridge) if options.dataplane else NoDataPlane(hardware.ports)
    return Switch(
        options.config,
        options.startup_config or _beside(options.config, ".startup"),
        hardware,
        Release(options.release),
        data_plane,
        hostname=options.hostname,
        enable_password=options.enable_password,
        observed=options.observed,
    )


def _eapi(options: argparse.Namespace, switch: Switch) -> EapiServer:
    server = EapiServer(options.listen, switch, (options.user, options.password), options.request_log)
    if options.cert:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.cert, options.key)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    return server


def _ssh(options: argparse.Namespace, switch: Switch) -> SshServer | None:
    if not options.ssh:
        return None
    host_key = options.ssh_host_key or _beside(options.config, ".ssh_host_key")
    return SshServer(options.ssh, switch, (options.user, options.password), host_key)


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="podsim eos", description="A simulated Arista switch that answers eAPI and SSH."
    )
    parser.add_argument("--listen", required=True, type=_address, metavar="HOST:PORT", help="port 0 takes a free one")
    parser.add_argument("--user", required=True)
    parser.add_argument("--password", required=True)
    parser.add_argument("--config", required=True, type=Path, help="the running configuration; made if it is missing")
    parser.add_argument("--startup-config", type=Path, help="default: beside the running one, with the suffix .startup")
    parser.add_argument("--hostname", help="the host name of a configuration that is made")
    parser.add_argument("--model", choices=MODELS, default=DCS_7060CX_32S.model.removesuffix("-F"))
    parser.add_argument("--release", default=DEFAULT_RELEASE.name, help="the EOS release to be (default: %(default)s)")
    parser.add_argument("--cert", type=Path, help="serve HTTPS with this certificate (PEM)")
    parser.add_argument("--key", type=Path, help="the certificate's key (PEM)")
    parser.add_argument("--ssh", type=_address, metavar="HOST:PORT", help="answer SSH there as well")
    parser.add_argument("--ssh-host-key", type=Path, help="default: beside the configuration, suffix .ssh_host_key")
    parser.add_argument("--enable-password", help="what `enable` asks for (default: nothing)")
    parser.add_argument("--observed", type=Path, help="JSON of the neighbours, addresses and counters that it sees")
    parser.add_argument("--dataplane", metavar="unix:PATH", help="steer the Open vSwitch with this database")
    parser.add_argument("--bridge", help="the bridge that is this switch")
    parser.add_argument("--request-log", type=Path, help="append one JSON line for each eAPI call")
    options = parser.parse_args(argv)
    if bool(options.cert) != bool(options.key):
        parser.error("--cert and --key go together")
    if bool(options.dataplane) != bool(options.bridge):
        parser.error("--dataplane and --bridge go together")
    return options


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal():
        raise argparse.ArgumentTypeError(f"{text}: an address is HOST:PORT, such as 127.0.0.1:8080")
    return host.strip("[]"), int(port)


if __name__ == "__main__":
    sys.exit(main())
