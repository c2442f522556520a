# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run on a cloud that changes nothing: what it asks of the cloud, and how long it takes.

On the simulated pod with its real OpenStack, vPODs have a project, a network and a machine that the run keeps, first
one of them, then eight. The machines' disk is empty: a cloud counts a machine as running that has nothing to boot.

Requests are counted between the run and the cloud, by a proxy. Runs that are compared take turns, and the quickest of
each counts, because others may use the machine, too.
"""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml

from tests.benchmark.bench_run import DEVICES
from tests.benchmark.measuring import SimulatedPod, can_have_pods, figure, run
from tests.support.checkout import PROGRAMS, ROOT

FLOOR = ROOT / "inventories" / "sim_openstack"
CLOUD = "cloud001"
FEW, MANY = 1, 8
ROUNDS = 3
# What a project, and what its flavor, can only be asked for one by one: two quotas, and who may use it.
ASKED_FOR_EACH = 3
NOTHING = "nothing changed"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPV5CKFPZCLhZVSlyKWeCLTUDMDJ9ZVrXGfLkWXzkOaB nobody"

# What a person would ask for: a token, and one list of each kind that a run compares.
LISTS = """
import sys, openstack
cloud = openstack.connect(cloud=sys.argv[1])
every = dict(all_projects=True)
lists = [
    cloud.identity.projects(), cloud.identity.users(), cloud.identity.role_assignments(),
    cloud.network.networks(), cloud.network.subnets(), cloud.network.ports(), cloud.network.security_groups(),
    cloud.network.rbac_policies(), cloud.network.agents(), cloud.image.images(), cloud.compute.flavors(is_public=None),
    cloud.compute.hypervisors(details=True), cloud.compute.servers(**every), cloud.compute.keypairs(),
    cloud.block_storage.volumes(**every), cloud.block_storage.snapshots(**every),
    cloud.placement.resource_providers(), cloud.placement.traits(),
]
assert all([list(each) is not None for each in lists])
"""


class Cloud(SimulatedPod):
    """The running pod with its cloud, and the vPODs that are declared in it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._image = folder / "empty.qcow2"
        (self.inventory / "group_vars").symlink_to((FLOOR / "group_vars").resolve())
        run("qemu-img", "create", "-q", "-f", "qcow2", str(self._image), "1M")

    def declare(self, number: int) -> None:
        """So many vPODs with a machine each."""
        declared = yaml.safe_load((FLOOR / "pods.yml").read_text())
        declared["clouds"][CLOUD]["images"] = {"empty": {"file": str(self._image)}}
        declared["sim"]["floor"] = str(ROOT / "inventories" / "sim_pod64" / "pods.yml")
        declared["vpods"] = {f"tenant{each:02}": _vpod(each) for each in range(1, number + 1)}
        self.pods_file.write_text(yaml.safe_dump(declared, sort_keys=False))

    def seconds_of_a_run(self) -> float:
        """A run that has nothing to do."""
        start = time.monotonic()
        output = self._playbook("openstack")
        seconds = time.monotonic() - start
        if NOTHING not in output:
            raise RuntimeError(f"openstack.yml did not do nothing:\n{output}")
        return seconds

    def seconds_of_lists(self) -> float:
        """A token and one list of each kind."""
        start = time.monotonic()
        run(sys.executable, "-c", LISTS, CLOUD, **self._entries())
        return time.monotonic() - start

    def seconds_of_pings(self) -> float:
        """Ansible's ping of the other devices that the run looks at."""
        start = time.monotonic()
        words = json.dumps({"podsim_state": str(self.state)})
        run(f"{PROGRAMS}/ansible", "-i", str(self.inventory), DEVICES, "-m", "ansible.builtin.ping", "-e", words)
        return time.monotonic() - start

    def make(self) -> None:
        """Make what is declared."""
        self._playbook("site")

    def requests(self) -> Counter[str]:
        """How many requests a run without a change makes, by service."""
        with counting_proxy() as (address, requests):
            self._playbook("openstack", http_proxy=address)
        return requests

    def _playbook(self, name: str, **environment: str) -> str:
        words = json.dumps({"podsim_state": str(self.state)})
        command = (f"{PROGRAMS}/ansible-playbook", "-i", str(self.inventory), f"playbooks/{name}.yml", "-e", words)
        return run(*command, **self._entries(), **environment)

    def _entries(self) -> dict[str, str]:
        return {"OS_CLIENT_CONFIG_FILE": str(self.state / "clouds.yaml")}


def _vpod(number: int) -> dict[str, Any]:
    """A vPOD with a machine, on one of the two hypervisors."""
    return {
        "cluster": "c001",
        "ipus": 4,
        "vlan": 200 + number,
        "users": [f"tenant{number:02}"],
        "poplar_servers": [f"pod001-poplar{3 + number % 2}"],
        "cloud": {
            "name": CLOUD,
            "users": ["alice"],
            "quota": {"instances": 1, "cores": 1, "ram": 64},
            "image": "empty",
            "machine": {"vcpus": 1, "memory": 64, "disk": 1},
            "machines": "kept",
            "key": KEY,
        },
    }


@contextlib.contextmanager
def counting_proxy() -> Iterator[tuple[str, Counter[str]]]:
    """An HTTP proxy on this machine, and how many requests went to each port behind it."""
    requests: Counter[str] = Counter()

    class Proxy(BaseHTTPRequestHandler):
        def _pass_on(self) -> None:
            requests[self.path.partition("://")[2].partition("/")[0].rpartition(":")[2]] += 1
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name: value for name, value in self.headers.items() if name != "Proxy-Connection"}
            asked = urllib.request.Request(self.path, body or None, headers, method=self.command)
            try:
                answer = direct.open(asked)
            except urllib.error.HTTPError as error:
                answer = error
            with answer:
                content = answer.read()
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    if name not in ("Connection", "Transfer-Encoding", "Content-Length"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        # So that BaseHTTPRequestHandler finds it.
        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = _pass_on  # noqa: N815

        def log_message(self, *_words: Any) -> None:
            """Nobody reads it."""

    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", requests
        finally:
            server.shutdown()
            thread.join()


def figures() -> list[dict[str, Any]]:
    """All figures of this file; none where there can be no simulated pod."""
    if not can_have_pods("bench_openstack"):
        return []
    with tempfile.TemporaryDirectory() as folder:
        cloud = Cloud(Path(folder))
        cloud.declare(FEW)
        with cloud.running():
            cloud.make()
            few = min(cloud.seconds_of_a_run() for _round in range(ROUNDS))
            few_requests = cloud.requests().total()
            cloud.declare(MANY)
            cloud.make()
            timed = (cloud.seconds_of_a_run, cloud.seconds_of_lists, cloud.seconds_of_pings)
            rounds = [[seconds() for seconds in timed] for _round in range(ROUNDS)]
            more_requests = cloud.requests().total() - few_requests
    many, lists, pings = (min(column) for column in zip(*rounds, strict=True))
    not_in_lists = ASKED_FOR_EACH * (MANY - FEW)
    return [
        figure("openstack: time of a run without a change over a token and lists", many / lists, 2),
        figure("openstack: the same over these and pings of its other devices", many / (lists + pings), 2),
        figure(f"openstack: time with {MANY} machines, networks and projects over {FEW}", many / few, 2),
        figure(
            "openstack: more requests for them, beside those that OpenStack has no list for",
            more_requests - not_in_lists,
            0,
        ),
    ]


if __name__ == "__main__":
    print(json.dumps(figures()))
