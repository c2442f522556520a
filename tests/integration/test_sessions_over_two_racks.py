# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sessions of ipu-run on servers of two racks: real containers, SSH and Open MPI between them, and all end together."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from podsim.floor.podman import Podman
from podsim.floor.state import StateDirectory
from tests.support.checkout import ROOT
from tests.support.container_image import MAKE_IMAGE_WITH_MPI, PROGRAMS, WORKLOAD
from tests.support.processes import wait_until
from tests.support.simulated_pod import STATE

FIRST, OTHER = SERVERS = ("pod001-poplar1", "pod002-poplar1")
ENGINES = ("podman", "docker")
RATES = re.compile(r"\d+\.\d MiB/s")
SESSION = f"--servers {FIRST},{OTHER} --ipus 8 --name train"
# Users' own keys count on the servers, whose addresses they know.
SSH_FOR_USERS = """
set -e
groupadd lab && useradd --create-home --groups lab --shell /bin/sh ann
echo 'AuthorizedKeysFile .ssh/authorized_keys /etc/podsim/authorized_keys' >/etc/ssh/sshd_config.d/00-users.conf
systemctl reload ssh
for home in /root /home/ann; do
mkdir -p $home/.ssh && cd $home/.ssh
printf '%s\\n' "$KEY" >id_ed25519 && chmod go= id_ed25519 && ssh-keygen -y -f id_ed25519 >authorized_keys
printf 'Host pod001-poplar1\\nHostname 10.3.1.101\\nHost pod002-poplar1\\nHostname 10.3.2.101\\n' >config
echo 'StrictHostKeyChecking accept-new' >>config
done
chown -R ann: /home/ann/.ssh
"""


@pytest.fixture(scope="module", name="inventory")
def _inventory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two racks, of which the second one is a server alone; their tenant has containers and no declared partition."""
    place = tmp_path_factory.mktemp("inventory")
    shutil.copytree(ROOT / "inventories" / "sim_pod128", place, dirs_exist_ok=True)
    document = yaml.safe_load((place / "pods.yml").read_text())
    machines = document["sim"]["ipu_machines"]
    document["pods"]["pod002"]["excluded"] = [name for name in machines if name.startswith("pod002")]
    document["clusters"]["c001"]["pods"] = ["pod001"]
    document["vpods"]["large"].update(ipus=64, ipuof="files", containers="macvlan")
    del document["vpods"]["large"]["partitions"]
    document["sim"]["software"] = ["containers"]
    document["sim"]["ipu_machines"] = {name: machines[name] for name in machines if name.startswith("pod001")}
    (place / "pods.yml").write_text(yaml.safe_dump(document, sort_keys=False))
    (place / "host_vars").mkdir()
    for server in SERVERS:
        (place / "host_vars" / f"{server}.yml").write_text("containers_groups: {large: lab}\n")
    return place


@pytest.fixture(scope="module", autouse=True)
def _users_and_image(pod: Any) -> None:
    """A user who reaches each server from the other one, and an image."""
    key = pod.inside(FIRST, "ssh-keygen -q -t ed25519 -N '' -f /tmp/key && cat /tmp/key && rm /tmp/key /tmp/key.pub")
    with ThreadPoolExecutor() as pool:
        prepare = f"KEY={shlex.quote(key.strip())}; {SSH_FOR_USERS} {MAKE_IMAGE_WITH_MPI}"
        list(pool.map(lambda server: pod.inside(server, prepare), SERVERS))


@pytest.fixture(autouse=True)
def _nothing_is_left(pod: Any) -> Iterator[None]:
    yield
    assert left(pod) == []


def left(pod: Any) -> list[str]:
    """What is left of sessions: containers, records, keys, parts of ipu-run, partitions."""
    look = (
        "podman ps --all --quiet; docker ps --all --quiet; ls /var/lib/ipu-pod/containers; "
        "pgrep --list-full --full '[i]pu-run --(part|servers|session)|[s]sh -T' || true"
    )
    found = [line for server in SERVERS for line in pod.inside(server, look).splitlines()]
    return [*found, *pod.held("partitions")]


def said(pod: Any, command: str, user: str = "root") -> list[str]:
    """What a command says on the first server in the end, and its exit status; rates are any."""
    login = f"su {user} --login --command {shlex.quote(f'{command} 2>&1; echo status $?')} </dev/null"
    return [RATES.sub("RATE", line) for line in pod.inside(FIRST, login).splitlines()]


def listed(pod: Any, server: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(pod.inside(server, "ipu-run --list --json"))
    return found


@contextmanager
def running(pod: Any, options: str = "") -> Iterator[None]:
    """A session that runs, in the background; its ipu-run has the number in /tmp/session.pid."""
    run = f"ipu-run {SESSION} {options} poplar sleep 600"
    pod.inside(FIRST, f"setsid {run} >/tmp/session 2>&1 </dev/null & echo $! >/tmp/session.pid")
    wait_until(lambda: all([each["is_ready"] for each in listed(pod, server)] == [True] for server in SERVERS))
    yield
    wait_until(lambda: pod.inside(FIRST, "kill -0 $(cat /tmp/session.pid) 2>/dev/null || echo ended") != "")


def last_words(pod: Any) -> str:
    """What the session in the background said in the end."""
    return str(pod.inside(FIRST, "tail -n 1 /tmp/session")).strip()


@pytest.mark.parametrize("engine", ENGINES)
def test_each_container_of_a_session_uses_the_ipus_of_its_gcd(pod: Any, engine: str) -> None:
    """Real packets: MPI between the containers of both racks, and from each one to its IPU-Machine."""
    lines = said(pod, f"ipu-run {SESSION} --engine {engine} {PROGRAMS} poplar mpirun {WORKLOAD}")
    assert sorted(lines[1:]) == [
        "10.5.1.1: frames of 9000 bytes, 32 MiB to and from it, RATE",
        "10.5.1.2: frames of 9000 bytes, 32 MiB to and from it, RATE",
        *["partition train: 32 MiB to and from 1 IPU-Machines, RATE"] * 2,
        "status 0",
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_user_has_the_same_with_no_privilege(pod: Any, engine: str) -> None:
    uid = pod.inside(FIRST, "id -u ann").strip()
    look = f"mpirun sh -c 'echo $(hostname) $(id -u)'; ssh {OTHER} grep CapEff /proc/self/status; exit 7"
    run = f"sudo ipu-run {SESSION} --engine {engine} poplar sh -c {shlex.quote(look)}"
    lines = said(pod, run, "ann")
    assert lines[0].startswith(f"ipu-run: session train has 8 IPUs of vPOD large on {FIRST}, {OTHER}; ")
    assert sorted(lines[1:3]) == [f"{server} {uid}" for server in SERVERS]
    assert lines[3:] == ["CapEff:\t0000000000000000", "status 7"]


def test_the_containers_know_each_other_by_name_and_key(pod: Any) -> None:
    look = (
        f"ping -c 1 -M do -s 8972 {OTHER} >/dev/null && ssh {OTHER} ssh {FIRST} echo '$IPUOF_CONFIG_PATH'; "
        "cat /etc/ipu-session/hostfile; paste -s -d , /etc/ipu-session/hosts; "
        # A host with another key is not believed.
        f"ssh -o HostKeyAlias=[{FIRST}]:2222 {OTHER} true 2>&1 | tail -n 1; ip -o -4 address | wc -l"
    )
    assert said(pod, f"ipu-run {SESSION} poplar sh -c {shlex.quote(look)}")[1:] == [
        "/etc/ipuof.conf.d/ipuof.conf",
        f"{FIRST} slots=1",
        f"{OTHER} slots=1",
        f"{FIRST},{OTHER}",
        "Host key verification failed.",
        # The RNIC's and the loopback.
        "2",
        "status 0",
    ]


def test_a_document_says_the_same_and_the_list_shows_it(pod: Any) -> None:
    document = {
        "servers": list(SERVERS),
        "ipus": 8,
        "name": "doc",
        "vpod": "large",
        "image": "poplar",
        "command": ["mpirun", "sh", "-c", "echo $GREETING"],
        "environment": {"GREETING": "good morning"},
    }
    pod.inside(FIRST, f"printf %s {shlex.quote(json.dumps(document))} >/home/ann/session.json; chmod o= /home/ann")
    assert said(pod, "sudo ipu-run --session session.json", "ann")[1:] == ["good morning", "good morning", "status 0"]
    assert said(pod, "sudo ipu-run --session /root/.ssh/id_ed25519", "ann")[0].endswith("Permission denied")
    with running(pod):
        records = [listed(pod, server)[0] for server in SERVERS]
        assert [(each["name"], each["ipus"], each["gcd"], each["gcds"]) for each in records] == [
            ("train", 4, 0, 2),
            ("train", 4, 1, 2),
        ]
        assert records[0]["servers"] == records[1]["servers"]
        addresses = [records[0]["servers"][server] for server in SERVERS]
        assert [address.rpartition(".")[0] for address in addresses] == ["10.5.1", "10.5.2"]
        pod.inside(FIRST, "kill $(cat /tmp/session.pid)")


def test_after_kill_9_of_ipu_run_the_others_end_and_the_timer_frees_the_ipus(pod: Any) -> None:
    with running(pod):
        pod.inside(FIRST, "kill -KILL $(cat /tmp/session.pid)")
    wait_until(lambda: listed(pod, OTHER) == [])
    # Twice a minute it looks.
    wait_until(lambda: left(pod) == [])


def test_after_kill_9_of_a_part_the_session_ends(pod: Any) -> None:
    with running(pod):
        pod.inside(OTHER, "pkill -KILL --full -- '[i]pu-run --part'")
    assert last_words(pod) == f"ipu-run: server {OTHER}: its ipu-run has ended without a word"
    assert pod.held("partitions") == []
    wait_until(lambda: left(pod) == [])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_container_that_ends_ends_the_session(pod: Any, engine: str) -> None:
    with running(pod, f"--engine {engine}"):
        pod.inside(OTHER, f"{engine} kill train >/dev/null")
    assert last_words(pod) == f"ipu-run: server {OTHER}: its container has ended"


def test_what_cannot_be_is_said_with_the_name_of_the_server(pod: Any) -> None:
    def refused(options: str, image: str = "poplar", user: str = "root") -> str:
        sudo = "" if user == "root" else "sudo "
        *_earlier, sentence, status = said(pod, f"{sudo}ipu-run {options} {image} true", user)
        assert status == "status 125"
        assert left(pod) == []
        return sentence.removeprefix("ipu-run: ")

    unreachable = f"--servers {FIRST},10.3.1.77 --ipus 8"
    assert refused(unreachable).startswith("server 10.3.1.77: ssh: connect to host 10.3.1.77 port 22: ")
    assert refused(f"--servers {OTHER},{FIRST} --ipus 8").startswith(f"--servers: {OTHER} is not this server, {FIRST};")
    assert refused(f"--servers 10.3.1.101,{FIRST} --ipus 8") == (
        f"--servers: {FIRST} is this server, too; name each server once"
    )
    assert refused(f"--servers {FIRST},10.3.2.101,{OTHER},a --ipus 8").startswith("server ")
    pod.inside(OTHER, "podman tag poplar kept && podman rmi poplar >/dev/null")
    assert refused(SESSION).startswith(f"server {OTHER}: podman cannot make a container of image poplar: ")
    pod.inside(OTHER, "podman tag kept poplar && podman rmi kept >/dev/null; mv /usr/local/bin/ipu-run /root/ipu-run")
    assert refused(SESSION, user="ann") == f"server {OTHER}: sudo: /usr/local/bin/ipu-run: command not found"
    pod.inside(OTHER, "mv /root/ipu-run /usr/local/bin/ipu-run; gpasswd --delete ann lab >/dev/null")
    assert refused(SESSION, user="ann") == f"server {OTHER}: sudo: a password is required"
    pod.inside(OTHER, "gpasswd --add ann lab >/dev/null")
    pod.inside(FIRST, "mkdir /tmp/bare && tar -c -C /tmp bare | podman import --quiet - bare && rmdir /tmp/bare")
    assert refused(SESSION, image="bare") == (
        "image bare has no /usr/sbin/sshd, which a session needs; install OpenSSH in it"
    )
    pod.inside(FIRST, "podman rmi bare >/dev/null")


def test_a_server_that_reboots_ends_the_session(pod: Any) -> None:
    with running(pod):
        Podman(StateDirectory(STATE)).run("restart", "--time", "0", f"podsim-{OTHER}")
    assert last_words(pod).startswith(f"ipu-run: server {OTHER}: ")
    assert pod.held("partitions") == []
    wait_until(lambda: left(pod) == [])
