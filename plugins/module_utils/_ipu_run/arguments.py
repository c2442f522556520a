# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line of ipu-run."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from typing import Any, Sequence

from .._plan.converge import Refused
from .._vipu.rules import NAME
from .._vipu.sizes import PARTITION_SIZES, is_partition_size, partition_findings
from .engine import DOCKER, PODMAN

ENGINES = (PODMAN, DOCKER)
FEWEST_SERVERS, MOST_SERVERS = 2, 8
# The name or the address of a server, which no program takes for an option.
_SERVER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,252}")
EPILOG = """\
It ends with the container's exit status. The IPUs are free when the container has ended, however it has.
See docs/containers.md of the collection ipu.pod."""


@dataclass(frozen=True)
class Arguments:
    """What is asked for: one of ``shows``, ``releases``, ``is_part``, or containers of ``image``.

    Args:
        document: a file with what is asked for instead of all this, ``-`` for the standard input.
        is_part: be one of the other servers of a session; what is asked for comes from its first server.
        servers: the servers of a session; none for one container here.
        gcd: which of them this one is.
    """

    shows: bool = False
    as_json: bool = False
    releases: bool = False
    document: str = ""
    is_part: bool = False
    ipus: int = 4
    vpod: str = ""
    name: str = ""
    engine: str = ""
    environment: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()
    home: bool = False
    shared_memory: str = ""
    detaches: bool = False
    wait: float = 0
    image: str = ""
    command: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    gcd: int = 0


class _Parser(argparse.ArgumentParser):
    """A parser whose refusals are ours."""

    def error(self, message: str) -> Any:
        raise Refused(f"{message}; see {self.prog} --help")


def arguments_from(argv: Sequence[str]) -> Arguments:
    """The arguments. Raises Refused: they are not understood, or ask for what there cannot be."""
    parser = _Parser(
        prog="ipu-run",
        usage="ipu-run [OPTION ...] IMAGE [COMMAND ...]\n"
        "       ipu-run --servers A,B,... [OPTION ...] IMAGE COMMAND ...\n"
        "       ipu-run --session FILE\n       ipu-run --list [--json]",
        description="Run a container that has IPUs, an RNIC address and RDMA devices of its own, or one on each of "
        "several servers.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--ipus", type=int, default=4, metavar="N", help="how many (default: %(default)s)")
    add("--vpod", default="", help="of which vPOD, if this server has several")
    add("--name", default="", help="name of the container and of its partition (default: your name and a number)")
    add("--engine", choices=ENGINES, default="", help="which engine, if this server has both (default: podman)")
    add("--env", action="append", default=[], metavar="NAME=VALUE", help="a variable of the container's environment")
    add("--volume", action="append", default=[], metavar="FROM:TO[:ro]", help="a directory for it; for root only")
    add("--home", action="store_true", help="your home directory, where it is")
    add("--shm-size", default="", metavar="SIZE", help="shared memory, such as 64g (default: half of the server's)")
    add("--detach", action="store_true", help="come back while it runs")
    add("--servers", default="", metavar="A,B,...", help="a session: a container on each, this server first")
    add("--session", default="", metavar="FILE", help="a session as a JSON document; - is the standard input")
    add("--part", action="store_true", help="be another server of a session; for the first one")
    add("--wait", type=float, default=0, metavar="SECONDS", help="if too few are free, wait up to so long")
    add("--list", action="store_true", help="who has which IPUs on this server")
    add("--json", action="store_true", help="the list as data")
    add("--release-ended", action="store_true", help="free the IPUs of containers that have ended; for a timer")
    add("image", nargs="?", default="", metavar="IMAGE")
    add("command", nargs=argparse.REMAINDER, metavar="COMMAND")
    given = parser.parse_args(list(argv))
    if not (given.image or given.list or given.release_ended or given.session or given.part):
        raise Refused("there is no IMAGE; see ipu-run --help")
    if given.session and list(argv) not in (["--session", given.session], [f"--session={given.session}"]):
        raise Refused("--session: the document says everything; leave the rest out")
    for setting in given.env:
        if "=" not in setting:
            raise Refused(f"--env {setting}: there is no value; write NAME=VALUE")
    asked = Arguments(
        shows=given.list,
        as_json=given.json,
        releases=given.release_ended,
        document=given.session,
        is_part=given.part,
        ipus=given.ipus,
        vpod=given.vpod,
        name=given.name,
        engine=given.engine,
        environment=tuple(given.env),
        volumes=tuple(given.volume),
        home=given.home,
        shared_memory=given.shm_size,
        detaches=given.detach,
        wait=given.wait,
        image=given.image,
        command=tuple(given.command),
        servers=tuple(given.servers.split(",")) if given.servers else (),
    )
    check(asked, "--")
    return asked


def check(asked: Arguments, dashes: str) -> None:
    """Refuse what there cannot be; ``dashes`` are what stands before the name of an option."""
    if asked.image.startswith("-"):
        raise Refused(f"{asked.image} is no image; see ipu-run --help")
    if not is_partition_size(asked.ipus):
        raise Refused(f"{dashes}ipus {asked.ipus}: there are no such partitions; use {PARTITION_SIZES}")
    if asked.name and not NAME.fullmatch(asked.name):
        raise Refused(
            f"{dashes}name {asked.name!r}: a name has letters, digits, '.', '_' and '-', at most 64 of them, and "
            "begins with a letter or a digit"
        )
    if asked.engine and asked.engine not in ENGINES:
        raise Refused(f"{dashes}engine {asked.engine}: there is no such engine; use {' or '.join(ENGINES)}")
    if asked.servers:
        _check_servers(asked, dashes)


def _check_servers(asked: Arguments, dashes: str) -> None:
    place, servers = f"{dashes}servers", asked.servers
    for server in servers:
        if not _SERVER.fullmatch(server):
            raise Refused(f"{place}: {server!r} is no name of a server; write names with commas between them")
    if not FEWEST_SERVERS <= len(servers) <= MOST_SERVERS:
        raise Refused(
            f"{place}: a session has {FEWEST_SERVERS} to {MOST_SERVERS} servers, not {len(servers)}; "
            "for a container on this one leave it out"
        )
    twice = next((server for server in servers if servers.count(server) > 1), "")
    if twice:
        raise Refused(f"{place}: {twice} is there twice; name each server once")
    for _field, finding in partition_findings(asked.ipus, len(servers), None, reconfigurable=False):
        raise Refused(f"{dashes}ipus {asked.ipus}: each server has a GCD, and {finding}")
    if asked.detaches:
        raise Refused("--detach: a session lasts as long as its ipu-run; leave it out")
    if not asked.command:
        raise Refused("there is no COMMAND; a session runs one in its first container")
