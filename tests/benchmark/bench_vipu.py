# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""vipu_state against what people write without it, and how it grows with the number of racks.

A POD64 state of 50 entities is brought up twice on one simulated controller: by `ipu.pod.vipu_state`, and by a playbook
that loops over `vipu-admin get` and `vipu-admin create`. Both call the same `vipu-admin`.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import converge, one_by_one
from ansible_collections.ipu.pod.plugins.module_utils._vipu.cli import Controller
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import KINDS, USER, plural
from ansible_collections.ipu.pod.plugins.module_utils._vipu.planner import plan
from podsim.vipu import agent, cli, machine
from tests.benchmark.measuring import figure
from tests.support.checkout import PROGRAMS, ROOT
from tests.support.loopback import HOST, free_port
from tests.support.simulated_controller import running_controller

# The vendor's vipu-admin is a compiled program that starts in milliseconds; the simulated one is a Python program that
# does not. So that the figures are not about that, both sides call this: it hands its arguments to a running process.
QUICK_PROGRAM = """#!{python} -ISE
import socket, sys
with socket.create_connection(("{host}", {port})) as link:
    link.sendall("\\0".join(sys.argv[1:]).encode())
    link.shutdown(socket.SHUT_WR)
    code, output, errors = link.makefile("rb").read().decode().split("\\0")
sys.stdout.write(output)
sys.stderr.write(errors)
sys.exit(int(code))
"""

LOOPS = {
    "agent": "create agent {name} --host {host} --port {port}",
    "cluster": "create cluster {name} --agents {agents} --topology {topology}",
    "allocation": "create allocation {name} --size {size} --cluster {cluster}",
    "partition": "create partition {name} --size {size} --allocation {allocation}",
}

# Linear growth from 1 rack to 64 gives 1, quadratic growth 64. The rest is for the noise of a shared machine.
LINEAR = 1.5

Declared = dict[str, list[dict[str, Any]]]


class Handler(socketserver.StreamRequestHandler):
    """Runs one `vipu-admin` command line of :data:`QUICK_PROGRAM`."""

    lock = threading.Lock()

    def handle(self) -> None:
        """Answer with exit code, output and errors."""
        arguments = self.rfile.read().decode().split("\0")
        output, errors = io.StringIO(), io.StringIO()
        with self.lock, contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            code = cli.admin_main(arguments)
        self.wfile.write(f"{code}\0{output.getvalue()}\0{errors.getvalue()}".encode())


def pod64(ports: list[int]) -> Declared:
    """50 entities: 16 agents, a cluster, 8 allocations, 25 partitions."""
    agents = [{"name": f"pod001-ipum{n}", "host": HOST, "port": port} for n, port in enumerate(ports, 1)]
    return {
        "agent": agents,
        "cluster": [{"name": "c001", "agents": [entity["name"] for entity in agents], "topology": "torus"}],
        "allocation": [{"name": f"tenant{n}", "cluster": "c001", "size": 8} for n in range(8)],
        "partition": [{"name": f"job{n}", "allocation": f"tenant{n % 8}", "size": 2} for n in range(25)],
    }


class Floor:
    """A controller with 16 agents, and playbooks that are run against it."""

    def __init__(self, directory: Path, admin_port: int, agent_ports: list[int]) -> None:
        self.directory = directory
        self.admin_port = admin_port
        self.declared = pod64(agent_ports)
        self.log = directory / "requests.jsonl"

    def module(self, state: str = "present") -> list[dict[str, Any]]:
        """The tasks with ipu.pod.vipu_state."""
        options: dict[str, Any] = {
            plural(kind): [{**entity, "state": state} for entity in entities]
            for kind, entities in self.declared.items()
        }
        return [{"name": "All at once", "ipu.pod.vipu_state": {"api_port": self.admin_port, **options}}]

    def loops(self) -> list[dict[str, Any]]:
        """The tasks that people write: look, and create what is not there."""
        tasks: list[dict[str, Any]] = []
        program = f"vipu-admin -P {self.admin_port}"
        for kind, words in LOOPS.items():
            look = f"{program} get {kind} {{{{ item.name }}}}"
            entities = [{**entity, "agents": ",".join(entity.get("agents", []))} for entity in self.declared[kind]]
            create = f"{program} {words}".replace("{", "{{ item.item.").replace("}", " }}")
            tasks += [
                {
                    "name": f"Look for {kind}s",
                    "ansible.builtin.command": {"cmd": look},
                    "loop": entities,
                    "register": "found",
                    "changed_when": False,
                    "failed_when": False,
                },
                {
                    "name": f"Create {kind}s",
                    "ansible.builtin.command": {"cmd": create},
                    "loop": "{{ found.results }}",
                    "when": "item.rc != 0",
                },
            ]
        return tasks

    def seconds(self, tasks: list[dict[str, Any]], changes: int) -> float:
        """How long a playbook with these tasks takes that has to report so many changed tasks."""
        play = {"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": tasks}
        playbook = self.directory / "playbook.yml"
        playbook.write_text(yaml.safe_dump([{**play, "vars": {"ansible_python_interpreter": sys.executable}}]))
        environment = {
            **os.environ,
            "PATH": f"{self.directory}{os.pathsep}{PROGRAMS}{os.pathsep}{os.environ['PATH']}",
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            # What has changed is counted in its recap.
            "ANSIBLE_STDOUT_CALLBACK": "ansible.builtin.default",
        }
        start = time.monotonic()
        done = subprocess.run(
            [f"{PROGRAMS}/ansible-playbook", "-i", "localhost,", str(playbook)],
            env=environment,
            cwd=self.directory,
            capture_output=True,
            text=True,
            check=False,
        )
        taken = time.monotonic() - start
        if done.returncode != 0 or f"changed={changes} " not in done.stdout:
            raise RuntimeError(f"the playbook did not do what it was to do:\n{done.stdout}{done.stderr}")
        return taken

    def requests(self) -> list[str]:
        """The methods that the controller was asked for."""
        return [json.loads(line)["method"] for line in self.log.read_text().splitlines()]

    def own_seconds(self) -> float:
        """The seconds of reading and planning in process with nothing to do, without the calls of the program."""
        calls = 0.0

        def run(argv: list[str]) -> tuple[int, str, str]:
            nonlocal calls
            start = time.monotonic()
            done = subprocess.run(
                [str(self.directory / argv[0]), *argv[1:]], capture_output=True, text=True, check=False
            )
            calls += time.monotonic() - start
            return done.returncode, done.stdout, done.stderr

        start = time.monotonic()
        unchanged(Controller(run, str(self.directory / "vipu-admin"), HOST, self.admin_port), self.declared)
        return time.monotonic() - start - calls


def unchanged(client: Controller, declared: Declared) -> None:
    """One run of the module's core that has nothing to do."""
    kinds = [kind for kind in KINDS if kind != USER]
    outcome = converge(
        lambda: client.read(kinds), lambda actual: plan(declared, actual), one_by_one(client.carry_out), False
    )
    if outcome.changed:
        raise RuntimeError("there was something to do")


@contextlib.contextmanager
def floor() -> Iterator[Floor]:
    """A controller and its agents on loopback."""
    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        user_port, admin_port, *agent_ports = (free_port() for _ in range(18))
        for number, port in enumerate(agent_ports, 1):
            facts = machine.facts(f"pod001-ipum{number}", "1.18.0", f"10.5.1.{number}", 2112)
            server = agent.start(f"{HOST}:{port}", lambda facts=facts: facts)
            stack.callback(server.stop, None)
        programs = stack.enter_context(socketserver.ThreadingTCPServer((HOST, 0), Handler))
        threading.Thread(target=programs.serve_forever, daemon=True).start()
        stack.callback(programs.shutdown)
        program = directory / "vipu-admin"
        program.write_text(QUICK_PROGRAM.format(python=sys.executable, host=HOST, port=programs.server_address[1]))
        program.chmod(0o755)
        quick = ["--creation-time", "0", "--removal-time", "0", "--poll-interval", "0.02"]
        log = ["--request-log", "requests.jsonl"]
        stack.enter_context(running_controller(directory, user_port, admin_port, *quick, *log))
        yield Floor(directory, admin_port, agent_ports)


def racks(count: int) -> tuple[Declared, dict[str, str]]:
    """Racks with a cluster each and 16 partitions or so a cluster: what is declared, and the JSON that shows it."""
    declared: Declared = {kind: [] for kind in LOOPS}
    listed: dict[str, list[dict[str, Any]]] = {kind: [] for kind in LOOPS}
    for rack in range(count):
        names = [f"pod{rack:03}-ipum{n}" for n in range(1, 17)]
        for n, name in enumerate(names, 1):
            fields = {"host": f"10.2.{rack}.{n}", "port": 8080}
            declared["agent"].append({"name": name, **fields})
            listed["agent"].append({"id": name, "spec": fields, "status": {"state": "Up"}})
        cluster, allocation = f"c{rack:03}", f"a{rack:03}"
        declared["cluster"].append({"name": cluster, "agents": names, "topology": "torus", "ipu_link_domains": 1})
        spec = {"agent_ids": names, "topology": "torus", "num_ipulink_domains": 1, "cluster_topology": ""}
        listed["cluster"].append({"id": cluster, "spec": spec})
        declared["allocation"].append({"name": allocation, "cluster": cluster, "size": 64, "agents": names})
        listed["allocation"].append({"id": allocation, "spec": {"cluster_id": cluster, "agent_ids": names}})
        for n in range(1000 * (rack + 1) // 64 - 1000 * rack // 64):
            name = f"p{rack:03}.{n}"
            declared["partition"].append({"name": name, "allocation": allocation, "size": 4})
            listed["partition"].append(partition_json(name, cluster, allocation, 4 * n))
    return declared, {plural(kind): json.dumps({plural(kind): entities}, indent=2) for kind, entities in listed.items()}


def partition_json(name: str, cluster: str, allocation: str, first: int) -> dict[str, Any]:
    """A partition of 4 IPUs as the controller shows it."""
    ipus = [
        {"ipulink_domain_topology_id": 0, "ipulink_domain_routing_id": 0, "topology_id": first + n, "routing_id": n}
        for n in range(4)
    ]
    spec = {
        "cluster_id": cluster,
        "ipus": ipus,
        "ipulink_routing_type": "IRT_DNC",
        "sync_type": "ST_POD_NATIVE_DEFAULT",
        "num_gcds": 1,
        "num_ipulink_segments": 1,
        "reconfigurable": False,
        "gw_routing_type": "GRT_UNDEFINED",
        "num_replicas": 1,
        "allocation_id": allocation,
    }
    return {"id": name, "spec": spec, "ready_state": "PS_ACTIVE", "ipuof_server_version": "v1.3.3"}


def growth(count: int) -> tuple[float, float]:
    """CPU seconds and peak memory in MB of a run that has nothing to do on so many racks."""
    declared, printed = racks(count)
    client = Controller(lambda argv: (0, printed[argv[-1]], ""), "vipu-admin", HOST, 1)
    unchanged(client, declared)
    taken = []
    for _ in range(9):
        start = time.process_time()
        unchanged(client, declared)
        taken.append(time.process_time() - start)
    tracemalloc.start()
    unchanged(client, declared)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return min(taken), peak


def unlike(asked: list[str], wanted: list[str]) -> int:
    """How many requests are too many, or missing."""
    too_many, missing = Counter(asked) - Counter(wanted), Counter(wanted) - Counter(asked)
    return sum(too_many.values()) + sum(missing.values())


def figures() -> list[dict[str, Any]]:
    """All figures of this file."""
    with floor() as here:
        fresh = here.seconds(here.module(), changes=1)
        before = len(here.requests())
        again = here.seconds(here.module(), changes=0)
        asked = here.requests()[before:]
        own = here.own_seconds()
        here.seconds(here.module("absent"), changes=1)
        loops_fresh = here.seconds(here.loops(), changes=4)
        loops_again = here.seconds(here.loops(), changes=0)
    small, large = growth(1), growth(64)
    lists = [f"List{plural(kind).capitalize()}" for kind in LOOPS]
    return [
        figure("vipu_state: 50 entities fresh, times faster than loops", loops_fresh / fresh, 4, at_least=True),
        figure("vipu_state: 50 entities unchanged, times faster", loops_again / again, 10, at_least=True),
        figure("vipu_state: requests unchanged that are not one list per kind", unlike(asked, lists), 0),
        figure("vipu_state: own seconds beyond its CLI calls", own, 1),
        figure("vipu_state: time, 64 racks over 64 times one rack", large[0] / (64 * small[0]), LINEAR),
        figure("vipu_state: memory, 64 racks over 64 times one rack", large[1] / (64 * small[1]), LINEAR),
        figure("vipu_state: peak memory of 64 racks, MB", large[1], 150),
    ]
