# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The roles of servers on two Debian releases: packages from the real archive, services, files, a second run.

What containers refuse is not shown here: that NFS is mounted, and that sessions may lock all memory.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.resources import File
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.vipu_controller import vipu_controller_resources
from podsim.floor.state import StateDirectory
from tests.roles_and_playbooks.debian_server import GOVERNORS, HUGE_PAGES, MOUNT_POINT, DebianServer, debian_image
from tests.support.container_server import begin_play, end_of, podman_in, skip_without_podman
from tests.support.controller_looks import SETTINGS
from tests.support.playbook_run import PlaybookRun

RELEASES = {"bookworm": "12", "trixie": "13"}
RNIC_MAC = "0c:42:a1:00:01:01"
SDK, OLD_SDK = "3.3.0", "2.6.0"

VARIABLES: dict[str, Any] = {
    "poplar_server_start_networkd": True,
    "poplar_server_interfaces": [{"name": "rnic0", "mtu": 9000, "addresses": ["10.5.1.101/16"]}],
    # Less than a container has: it may not have more.
    "poplar_server_memlock": "64",
    "poplar_server_memlock_units": ["prometheus-node-exporter.service"],
    "poplar_server_sysctl": {
        "net.ipv4.conf.all.arp_ignore": 1,
        "net.ipv4.conf.all.arp_announce": 2,
        "net.ipv4.ip_local_port_range": "32768 60000",
    },
    "poplar_host_sdk_for_all": SDK,
    "poplar_host_mounts": [{"path": MOUNT_POINT, "source": "10.3.1.200:/data"}],
    "poplar_host_huge_pages": {"2048kB": 16},
    "poplar_host_cpu_governor": "performance",
    "poplar_host_users": [{"name": "alice", "uid": 2001, "groups": ["users"]}],
    "poplar_host_node_exporter": True,
    "pod_services_dhcp": [{"interface": "rnic0", "networks": ["10.5.0.0/16"]}],
    "pod_services_dhcp_hosts": [{"name": "pod001-ipum1-rnic", "mac": RNIC_MAC, "address": "10.5.1.1"}],
    "pod_services_time": {"networks": ["10.5.0.0/16"], "local_stratum": 10},
    "pod_services_syslog": {"address": "10.5.1.101"},
}
ROLES = ("poplar_server", "poplar_host", "pod_services")


@dataclass
class Bed:
    """A server of each release, and the archives that they load SDKs from."""

    folder: Path
    servers: dict[str, DebianServer]
    variables: dict[str, Any]

    def run(self, *roles: str, check: bool = False, **changes: Any) -> PlaybookRun:
        """Run roles on all servers at once."""
        play = {
            "hosts": "poplar_servers",
            "gather_facts": False,
            "roles": [f"ipu.pod.{role}" for role in roles],
        }
        variables = {**VARIABLES, **self.variables, **changes}
        running = begin_play(self.folder, list(self.servers.values()), [play], check=check, **variables)
        document = end_of(running)
        return PlaybookRun(running.returncode, document)


def sdk(folder: Path, version: str) -> Path:
    """An archive like the vendor's: one directory, and in it the script that sets the environment."""
    archive = folder / f"poplar_sdk-{version}.tar.gz"
    script = f"export POPLAR_SDK_ENABLED={version}\n".encode()
    with tarfile.open(archive, "w:gz") as tar:
        member = tarfile.TarInfo(f"poplar_sdk-ubuntu_20_04-{version}+1234/enable")
        member.size, member.mode = len(script), 0o755
        tar.addfile(member, io.BytesIO(script))
    return archive


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    """Servers on which no role has run yet."""
    skip_without_podman()
    folder = tmp_path_factory.mktemp("servers")
    podman = podman_in(folder)
    state = StateDirectory(folder / "state")
    servers = {release: DebianServer(podman, folder, release) for release in RELEASES}
    archives = folder / "archives"
    archives.mkdir()
    loaded, copied = sdk(archives, SDK), sdk(folder, OLD_SDK)
    http = None
    try:
        for release, server in servers.items():
            server.start(debian_image(podman, state, release))
        address = next(iter(servers.values())).host_address
        http = ThreadingHTTPServer((address, 0), partial(SimpleHTTPRequestHandler, directory=archives))
        threading.Thread(target=http.serve_forever, daemon=True).start()
        sdks = [
            {
                "version": SDK,
                "archive": f"http://{address}:{http.server_port}/{loaded.name}",
                "checksum": f"sha256:{hashlib.sha256(loaded.read_bytes()).hexdigest()}",
            },
            {"version": OLD_SDK, "archive": str(copied)},
        ]
        yield Bed(folder, servers, {"poplar_host_sdks": sdks})
    finally:
        if http:
            http.shutdown()
            http.server_close()
        for server in servers.values():
            server.stop()


@pytest.fixture(scope="module")
def made(bed: Bed) -> Bed:
    """The servers after the roles."""
    run = bed.run(*ROLES)
    assert run.code == 0, run.messages
    return bed


@pytest.fixture(params=RELEASES)
def server(request: pytest.FixtureRequest, made: Bed) -> DebianServer:
    return made.servers[request.param]


def files(server: DebianServer) -> str:
    return server.sh("find /etc /opt /usr/sbin -type f ! -name '.pwd.lock' -exec sha256sum {} + | sort")


def test_an_archive_that_is_another_is_refused(bed: Bed) -> None:
    wrong = [{**bed.variables["poplar_host_sdks"][0], "checksum": f"sha256:{'0' * 64}"}]
    run = bed.run("poplar_host", poplar_host_sdks=wrong, poplar_host_mounts=[], poplar_host_node_exporter=False)
    assert run.code != 0
    assert "checksum" in run.messages
    for server in bed.servers.values():
        assert "enable" not in server.sh(f"ls /opt/poplar/{SDK} 2>/dev/null || true")


def test_a_dry_run_touches_nothing(bed: Bed) -> None:
    before = {name: files(server) for name, server in bed.servers.items()}
    # The interface that DHCP is to be served on has no address yet.
    run = bed.run(*ROLES, check=True, pod_services_dhcp=[])
    assert run.code == 0, run.messages
    assert all(number > 5 for number in run.changed.values())
    assert {name: files(server) for name, server in bed.servers.items()} == before


def test_a_second_run_puts_permissions_right_that_somebody_changed_and_nothing_else(made: Bed) -> None:
    one, *others = RELEASES
    file = "/etc/sysctl.d/90-ipu-pod.conf"
    made.servers[one].sh(f"chmod 600 {file}")
    run = made.run(*ROLES)
    assert run.code == 0, run.messages
    assert run.changed == {one: 1, **dict.fromkeys(others, 0)}
    assert made.servers[one].sh(f"stat --format %a {file}") == "644\n"


def test_packages_are_installed(server: DebianServer) -> None:
    assert f'VERSION_ID="{RELEASES[server.name]}"' in server.sh("cat /etc/os-release")
    packages = (
        "rdma-core ibverbs-utils perftest lldpd iproute2 ethtool nfs-common dnsmasq-base chrony rsyslog logrotate"
    )
    status = server.sh(f"dpkg-query --show --showformat '${{db:Status-Status}} ' {packages} prometheus-node-exporter")
    assert status.split() == ["installed"] * 12


def test_services_run_now_and_after_a_restart(server: DebianServer) -> None:
    units = "systemd-networkd ipu-pod-dhcp@rnic0 chrony rsyslog prometheus-node-exporter"
    assert server.sh(f"systemctl is-active {units}").split() == ["active"] * 5
    assert server.sh(f"systemctl is-enabled {units} mnt-data.mount").split() == ["enabled"] * 6
    assert server.sh("ip -brief -4 address show rnic0").split()[2:] == ["10.5.1.101/16"]


def test_the_limits_of_new_sessions_and_units(server: DebianServer) -> None:
    assert server.sh("su - alice -c 'ulimit -l'") == "64\n"
    unit = server.sh("systemctl show --property LimitMEMLOCK prometheus-node-exporter")
    assert unit == f"LimitMEMLOCK={64 * 1024}\n"


def test_kernel_parameters_now_and_after_a_restart(server: DebianServer) -> None:
    names = "net.ipv4.conf.all.arp_ignore net.ipv4.conf.all.arp_announce net.ipv4.ip_local_port_range"
    assert server.sh(f"sysctl --values {names}").split() == ["1", "2", "32768", "60000"]
    server.sh("sysctl --write net.ipv4.conf.all.arp_ignore=0 && sysctl --system")
    assert server.sh("sysctl --values net.ipv4.conf.all.arp_ignore") == "1\n"


def test_huge_pages_and_governor_now_and_after_a_restart(server: DebianServer) -> None:
    def values() -> list[str]:
        return server.sh(f"for file in {HUGE_PAGES} {' '.join(GOVERNORS)}; do cat $file; echo; done").split()

    assert values() == ["16", "performance", "performance"]
    server.sh(f"echo 0 >{HUGE_PAGES}; systemd-tmpfiles --create --boot --prefix=/sys")
    assert values() == ["16", "performance", "performance"]


def test_every_user_has_the_sdk(server: DebianServer) -> None:
    assert server.sh("id --user alice") == "2001\n"
    assert "users" in server.sh("id --groups --name alice").split()
    assert server.sh("su - alice -c 'echo $POPLAR_SDK_ENABLED'") == f"{SDK}\n"
    assert server.sh("ls -A /opt/poplar").split() == [OLD_SDK, SDK]


def test_the_node_exporter_answers(server: DebianServer) -> None:
    fetch = "import urllib.request as r; print(r.urlopen('http://127.0.0.1:9100/metrics').read().decode())"
    assert "node_memory_MemTotal_bytes" in server.sh(f'python3 -c "{fetch}"')


def test_an_nfs_mount_that_fails_is_named(made: Bed) -> None:
    run = made.run("poplar_host", poplar_host_mounts=[{"path": "/mnt/my-data", "source": "127.0.0.1:/nothing"}])
    assert run.code != 0
    assert "mnt-my\\x2ddata.mount" in run.messages
    for server in made.servers.values():
        unit = server.sh("systemctl cat 'mnt-my\\x2ddata.mount'")
        assert {"What=127.0.0.1:/nothing", "Where=/mnt/my-data", "Type=nfs"} <= set(unit.splitlines())
        server.sh("systemctl disable --now 'mnt-my\\x2ddata.mount'; rm '/etc/systemd/system/mnt-my\\x2ddata.mount'")


def test_chrony_serves_time_and_rsyslog_takes_messages(server: DebianServer) -> None:
    assert server.sh("chronyc -c tracking").split(",")[2] == "10"
    takes(server, "fan 3 is slow")


def takes(server: DebianServer, message: str) -> None:
    """See a message arrive in the sender's file."""
    server.sh(f"logger --server 10.5.1.101 --port 514 --udp --tag agent '{message}'")
    log = "/var/log/ipu-pod/10.5.1.101.log"
    server.sh(f"for _ in $(seq 100); do grep -qs '{message}' {log} && exit; sleep 0.1; done; exit 1")


def test_rotated_logs_are_written_on(server: DebianServer) -> None:
    takes(server, "fan 4 is slow")
    server.sh("logrotate --force /etc/logrotate.d/ipu-pod")
    takes(server, "fan 5 is slow")
    assert "fan 4 is slow" in server.sh("cat /var/log/ipu-pod/10.5.1.101.log.1")
    assert server.sh("find /proc/$(systemctl show --property MainPID --value rsyslog)/fd -lname '*(deleted)'") == ""


def test_the_log_of_a_controller_that_is_rotated_is_written_on(server: DebianServer) -> None:
    """As its unit does: what it prints is appended, and it never opens its log again."""
    settings = {**SETTINGS, "vipu_controller_mode": "secure"}
    (text,) = [
        thing.content
        for thing in vipu_controller_resources(settings)
        if isinstance(thing, File) and thing.path == "/etc/logrotate.d/vipu-server"
    ]
    log = "/var/lib/vipu/log/vipu-server.log"
    server.sh("install -d -g daemon -m 1770 /var/lib/vipu; mkdir -m 0700 /var/lib/vipu/log")
    server.sh(f"mkdir /run/lines; mkfifo /run/lines/in; cat >/run/lines/rotation <<'END'\n{text}END")
    write = "while read -r line; do echo $line; done </run/lines/in"
    server.sh(f"systemd-run --unit writer --property StandardOutput=append:{log} sh -c '{write}'")
    arrives = f"for _ in $(seq 100); do grep -qs $1 {log} && break; sleep 0.1; done"
    server.sh(
        f"exec 3>/run/lines/in; set -- one; echo one >&3; {arrives}; logrotate --force /run/lines/rotation; "
        f"set -- two; echo two >&3; {arrives}"
    )
    assert server.sh(f"cat {log}; zcat {log}.1.gz") == "two\none\n"
