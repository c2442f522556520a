# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The unit of a V-IPU controller with a user of its own, where systemd can shut it in; a container's cannot."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.resources import File
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.vipu_controller import vipu_controller_resources
from tests.support.controller_looks import SETTINGS

# What it finds it may do, as a line each, in place of a controller.
PROGRAM = """#!/bin/sh
for path in / /etc /srv/its-own /run /var/lib /var/lib/vipu/keys /var/lib/vipu/backups /var/lib/vipu; do
    touch $path/tried && echo writes in $path
done 2>/dev/null >/var/lib/vipu/found
ls /root /home /tmp/of-root >>/var/lib/vipu/found 2>/dev/null
id -un >>/var/lib/vipu/found
exec sleep infinity
"""
PREPARED = """useradd --system --user-group vipu-server
install -d -m 1770 -g vipu-server /var/lib/vipu
install -d -o vipu-server /srv/its-own
install -d -m 0700 /var/lib/vipu/keys /var/lib/vipu/backups /var/lib/vipu/log
runuser -u vipu-server -- sh -c 'umask 077; echo {} >/var/lib/vipu/vipu-server.json'
touch /tmp/of-root; chmod 0755 /usr/local/bin/vipu-server /usr/local/sbin/vipu-backup"""


@pytest.fixture(scope="module", name="one")
def _one(bed: Any) -> Any:
    """A server on which it runs."""
    server = bed.server("pod001-poplar1")
    wanted = vipu_controller_resources({**SETTINGS, "vipu_controller_mode": "secure"})
    files = {thing.path: thing.content or "" for thing in wanted if isinstance(thing, File)}
    for path, text in {**files, SETTINGS["vipu_controller_program"]: PROGRAM}.items():
        server.check_output(f"printf %s {shlex.quote(text)} >{path}")
    server.check_output(f"set -e; {PREPARED}; systemctl daemon-reload; systemctl start vipu-server")
    bed.until(lambda: "vipu-server\n" in server.file("/var/lib/vipu/found").content_string, "the program has not ended")
    return server


def test_it_writes_into_its_directory_alone_and_sees_nobodys_home(one: Any) -> None:
    assert one.file("/var/lib/vipu/found").content_string == "writes in /var/lib/vipu\nvipu-server\n"


def test_root_copies_its_storage_in_front_of_it(one: Any) -> None:
    assert one.check_output("cat /var/lib/vipu/backups/*.json; stat -c '%U %a' /var/lib/vipu/backups/*.json") == (
        "{}\nroot 600"
    )


def test_its_log_is_roots(one: Any) -> None:
    assert one.check_output("stat -c '%U %a' /var/lib/vipu/log/vipu-server.log") == "root 600"
