# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The true state of the simulated pod: by its switch, its machines and its controller, never by the collection."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.integration.chaos.declarations import SERVERS, Document, there
from tests.integration.chaos.faults import CONTROLLER, HOSTS, SWITCH
from tests.support.packets.ports import Port, rnic_of
from tests.support.packets.watch import NOBODY
from tests.support.simulated_pod import STATE

ADMIN = "vipu-admin --config /etc/vipu/vipu-admin.hcl --showjson"
# Until each controller sees again what works again, or a minute has passed.
SEEN_AGAIN = r"""
for unit in /etc/systemd/system/vipu-server*.service; do
    name=${unit##*/vipu-server}
    port=$(sed -nE 's/.*--admin-port[ =]([0-9]+).*/\1/p' "$unit")
    ask="vipu-admin --config /etc/vipu/vipu-admin${name%.service}.hcl -P $port"
    timeout 60 sh -c "while $ask list agents | grep -q Down || $ask list partitions | grep -q ERROR; do sleep 0.2; done"
done 2>/dev/null
true
"""
# What somebody else has on the pod.
FOREIGN_FILE = "/etc/somebody.conf"
FOREIGN_VLAN, FOREIGN_PORT = "700", "Ethernet2/1"
THEIRS, HERS, CAROL = "theirs", "hers", "carol"
DEDICATED = "sha256sum /var/lib/vipu-server-*/vipu-server.json 2>/dev/null; true"
FILES = "find /etc -type f ! -name 'ssh_host*' -exec sha256sum {} + | sort -k 2; ip -brief address show up"


class Truth:
    """The pod as it is."""

    def __init__(self, pod: Any) -> None:
        self._pod = pod
        self.rnics: dict[str, Port] = {name: rnic_of(name) for name in (*SERVERS, *pod.sim["ipu_machines"])}

    def settle(self) -> None:
        """Wait until what works again is known to work."""
        self._pod.inside(CONTROLLER, SEEN_AGAIN)

    def bring_foreign_things(self) -> None:
        """Make what no run may touch."""
        self._pod.switch(
            *("configure", f"vlan {FOREIGN_VLAN}", "name site", f"interface {FOREIGN_PORT}"),
            *(f"switchport access vlan {FOREIGN_VLAN}", "description of the site"),
        )
        self._pod.switch("copy running-config startup-config")
        self._pod.inside(
            CONTROLLER,
            f"{ADMIN} create allocation {THEIRS} --cluster c001 --agents pod001-ipum16 && "
            f"{ADMIN} create user {CAROL} --allocations {THEIRS} >/dev/null && "
            f"{ADMIN} create partition {HERS} --allocation {THEIRS} --size 4",
        )
        for host in HOSTS:
            self._pod.inside(host, f"echo mine >{FOREIGN_FILE}")

    def foreign(self) -> dict[str, Any]:
        """All of that, as it is."""
        held = self.held()
        return {
            "switch": [
                block
                for block in self.running_config().split("\n!\n")
                if re.match(rf"(vlan {FOREIGN_VLAN}|interface {FOREIGN_PORT})\n", block)
            ],
            "allocation": _spec(held["allocations"], THEIRS),
            "partition": _spec(held["partitions"], HERS),
            "user": _spec(held["users"], CAROL),
            "files": [self._pod.inside(host, f"cat {FOREIGN_FILE}") for host in HOSTS],
        }

    def held(self) -> dict[str, list[dict[str, Any]]]:
        """The entities of the cluster's controller, by kind."""
        return {kind: self._listed(kind) for kind in ("allocations", "partitions", "users")}

    def running_config(self) -> str:
        """Of the switch, as it keeps it."""
        return (STATE / "switches" / SWITCH / "running-config").read_text()

    def prints(self) -> dict[str, str]:
        """Everything that a run could change, by device."""
        hosts = {host: self._pod.inside(host, FILES) for host in HOSTS}
        hosts[CONTROLLER] += json.dumps(self.held(), sort_keys=True) + self._pod.inside(CONTROLLER, DEDICATED)
        return {SWITCH: self.running_config(), **hosts}

    def tenants(self, document: Document) -> dict[Port, str]:
        """Whose each RNIC is: servers as declared, IPU-Machines as the controller has them."""
        owners = {server: name for name, vpod in there(document).items() for server in vpod["poplar_servers"]}
        owners |= {
            agent: each["id"]
            for each in self._listed("allocations")
            for agent in each["spec"]["agent_ids"]
            # Its ports are not in pods.yml, and where nobody's are.
            if each["id"] != THEIRS
        }
        return {port: owners.get(name, NOBODY) for name, port in self.rnics.items()}

    def doubled(self) -> Iterator[str]:
        """Everything that is there twice."""
        held = self.held()
        for kind, entities in held.items():
            for name, times in Counter(entity["id"] for entity in entities).items():
                if times > 1:
                    yield f"{times} {kind} are called {name}"
        machines = Counter(agent for each in held["allocations"] for agent in each["spec"]["agent_ids"])
        yield from (f"{machine} is in {times} allocations" for machine, times in machines.items() if times > 1)
        lines = Counter(re.findall(r"^(?:vlan|interface) \S+$", self.running_config(), re.MULTILINE))
        yield from (f"the switch has {line} {times} times" for line, times in lines.items() if times > 1)

    def differences(self, document: Document) -> Iterator[str]:
        """Everything that is not as declared."""
        allocations = {each["id"]: each["spec"]["agent_ids"] for each in self._listed("allocations")}
        declared = there(document)
        yield from (f"allocation {name} is there" for name in allocations.keys() - declared.keys() - {THEIRS})
        blocks = dict(re.findall(r"^interface (\S+)\n((?: .*\n)*)", self.running_config(), re.MULTILINE))
        for name, vpod in declared.items():
            machines = allocations.get(name, [])
            if 4 * len(machines) != vpod["ipus"]:
                yield f"{name} has {machines}"
            for machine in machines:
                if f"switchport access vlan {vpod['vlan']}" not in blocks[self._port(machine)]:
                    yield f"the port of {machine} is not in the VLAN of {name}: {blocks[self._port(machine)]}"
            for server in vpod["poplar_servers"]:
                client = self._pod.inside(server, "cat /etc/vipu/vipu-cli.hcl 2>/dev/null; true")
                if f'api-user-id="{name}"' not in client:
                    yield f"{server} is no V-IPU client of {name}: {client}"
                seen = json.loads(self._pod.inside(server, "vipu --showjson list partitions 2>/dev/null; true") or "{}")
                states = {each["id"]: each["ready_state"] for each in seen.get("partitions", [])}
                if states != dict.fromkeys(vpod["partitions"], "PS_ACTIVE"):
                    yield f"{server} sees the partitions {states}"

    def recorded(self) -> list[tuple[str, str]]:
        """The runs of which there is a record, the latest last, each with how it says that they ended."""
        text = self._pod.inside(CONTROLLER, "cat /var/lib/ipu-pod/runs.jsonl 2>/dev/null; true")
        found: dict[str, str] = {}
        for record in map(json.loads, text.splitlines()):
            found[record["run"]] = "" if record["event"] == "started" else record.get("result", "done")
        return list(found.items())

    def _listed(self, kind: str) -> list[dict[str, Any]]:
        # A controller that was just started does not listen yet.
        wait = f"for n in $(seq 100); do {ADMIN} list {kind} 2>/dev/null && exit 0; sleep 0.2; done; exit 1"
        found: list[dict[str, Any]] = json.loads(self._pod.inside(CONTROLLER, wait))[kind]
        return found

    def _port(self, machine: str) -> str:
        return str(self._pod.sim["ipu_machines"][machine]["rnic"]["cable"].split()[1])


def _spec(entities: list[dict[str, Any]], name: str) -> list[Any]:
    """The specification under a name, not the state at the moment."""
    return [entity["spec"] for entity in entities if entity["id"] == name]
