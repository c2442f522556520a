# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The switches' data plane: one private Open vSwitch in user space, with a bridge per switch.

Another bridge for each is the switch in an RNIC that has virtual functions, see functions.py.

As it leaves here, every port is untagged in one common VLAN, like a switch without configuration; the EOS daemon
finds the ports by `external_ids:eos_port` and sets their VLANs and MTUs.
"""

from __future__ import annotations

from pathlib import Path

from podsim.floor.commands import run
from podsim.floor.daemons import Daemons
from podsim.floor.dhcp import server_addresses
from podsim.floor.errors import FloorError
from podsim.floor.network import SWITCH_LINK_MTU
from podsim.floor.plan import DATA_PLANE_NAMESPACE, DHCP_OPENFLOW_PORT, Floor, SwitchPlan
from podsim.floor.state import StateDirectory

DAEMONS = DATABASE, SWITCHING = ("ovsdb-server", "ovs-vswitchd")
SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"


def database(state: StateDirectory) -> str:
    """The address of the data plane's database, as the Open vSwitch tools take it."""
    return f"unix:{state.data_plane}/db.sock"


def start_open_vswitch(state: StateDirectory, daemons: Daemons) -> None:
    """Start what is not running of ovsdb-server and ovs-vswitchd; both report back when they are ready."""
    directory, running = state.data_plane, daemons.running()
    place = dict.fromkeys(("OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR"), str(directory))

    def start(program: str, *arguments: str) -> None:
        for stale in directory.glob(f"{program}.*.ctl"):
            stale.unlink()
        files = (f"--pidfile={directory}/{program}.pid", f"--log-file={directory}/{program}.log")
        environment = {**place, **daemons.mark(program)}
        run(
            "nsenter",
            f"--net=/run/netns/{DATA_PLANE_NAMESPACE}",
            *_before_all_others(),
            program,
            *arguments,
            *files,
            "--detach",
            "--no-chdir",
            "-vconsole:off",
            environment=environment,
        )

    if DATABASE not in running:
        if not (directory / "conf.db").exists():
            _create_database(directory)
        start(DATABASE, f"{directory}/conf.db", f"--remote=punix:{directory}/db.sock")
        run("ovs-vsctl", f"--db={database(state)}", "--no-wait", "init")
    if SWITCHING not in running:
        start(SWITCHING, database(state))


def _before_all_others() -> tuple[str, ...]:
    """How a program is started that runs whenever it can: a switch drops nothing because the control node is busy."""
    command = ("chrt", "--rr", "1")
    try:
        run(*command, "true")
    except FloorError:
        # Not every container or control group may; then a busy machine loses frames now and then.
        return ()
    return command


def _create_database(directory: Path) -> None:
    # Made under another name first, so that an interrupted start leaves no half a database.
    new = directory / "conf.db.new"
    new.unlink(missing_ok=True)
    run("ovsdb-tool", "create", str(new), SCHEMA)
    new.rename(directory / "conf.db")


def build_switches(floor: Floor, state: StateDirectory) -> None:
    """A bridge per switch with its cabled ports; a port that is already there keeps its VLAN and MTU."""
    for switch in floor.switches:
        command = ["ovs-vsctl", f"--db={database(state)}", "--timeout=30", "--may-exist", "add-br", switch.bridge]
        command += ["--", "set", "bridge", switch.bridge, "datapath_type=netdev", "fail-mode=standalone"]
        existing = _ports(switch, state)
        for port in switch.cabled:
            if port.link not in existing:
                command += ["--", "add-port", switch.bridge, port.link]
                command += ["--", "set", "port", port.link, f"external_ids:eos_port={port.name}"]
                command += ["--", "set", "interface", port.link, f"mtu_request={SWITCH_LINK_MTU}"]
                command += [f"ofport_request={port.openflow_port}"]
        if switch.dhcp_link not in existing:
            command += ["--", "add-port", switch.bridge, switch.dhcp_link]
            command += ["--", "set", "interface", switch.dhcp_link, f"ofport_request={DHCP_OPENFLOW_PORT}"]
        run(*command)
        run("ovs-ofctl", "mod-port", _management_socket(switch, state), switch.dhcp_link, "no-flood")
        run("ovs-ofctl", "add-flows", _management_socket(switch, state), "-", text="\n".join(dhcp_flows(switch, floor)))


def build_embedded_switches(floor: Floor, state: StateDirectory) -> None:
    """A bridge for the switch in each RNIC with virtual functions.

    Servers have no VLAN interfaces on such an RNIC, so that it filters out what comes with a tag, as a NIC does.
    """
    for rnic in (rnic for machine in floor.containers for rnic in machine.with_functions):
        switch = rnic.embedded_switch
        if switch:
            command = ["ovs-vsctl", f"--db={database(state)}", "--timeout=30", "--may-exist", "add-br", switch.bridge]
            command += ["--", "set", "bridge", switch.bridge, "datapath_type=netdev", "fail-mode=standalone"]
            for link in (switch.uplink, switch.port):
                command += ["--", "--may-exist", "add-port", switch.bridge, link]
                command += ["--", "set", "interface", link, f"mtu_request={SWITCH_LINK_MTU}"]
            run(*command, "--", "set", "port", switch.port, "trunks=0")


def dhcp_flows(switch: SwitchPlan, floor: Floor) -> list[str]:
    """OpenFlow entries that connect the DHCP server, by DHCP and ARP alone, with every port in whichever VLAN."""
    leased = {port.openflow_port: port.mac for port in switch.ports if port.mac in floor.leases}
    server, to_server = f"in_port={DHCP_OPENFLOW_PORT}", f"strip_vlan,output:{DHCP_OPENFLOW_PORT}"
    if not leased:
        # Somebody else may serve them, over the ordinary VLANs.
        return [f"priority=900,{server},actions=drop"]
    answer = f"priority=1000,{server},udp,tp_src=67,tp_dst=68"
    everyone = ",".join(f"output:{port}" for port in leased)
    return [
        f"priority=1000,udp,tp_src=68,tp_dst=67,actions={to_server}",
        *(f"{answer},dl_dst={mac},actions=output:{port}" for port, mac in leased.items()),
        # A lease is renewed, and its renewal answered, at addresses that both have to find.
        *(f"priority=1000,arp,arp_tpa={address.ip},actions={to_server}" for address in server_addresses(floor)),
        *(
            f"priority=1000,{server},arp,arp_tpa={floor.leases[mac].ip},actions=output:{port}"
            for port, mac in leased.items()
        ),
        f"{answer},dl_dst=ff:ff:ff:ff:ff:ff,actions={everyone}",
        f"priority=900,{server},actions=drop",
    ]


def _ports(switch: SwitchPlan, state: StateDirectory) -> set[str]:
    condition = f"name={switch.bridge}"
    found = run("ovs-vsctl", f"--db={database(state)}", "--bare", "--columns=_uuid", "find", "bridge", condition)
    if not found.strip():
        return set()
    return set(run("ovs-vsctl", f"--db={database(state)}", "list-ports", switch.bridge).split())


def _management_socket(switch: SwitchPlan, state: StateDirectory) -> str:
    return f"unix:{state.data_plane}/{switch.bridge}.mgmt"
