# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every key of pods.yml: what it may be, what it is if it is left out, and what it means. Data.

The parser and its sentences, the table in docs/inventory.md, the documentation of the inventory plugin and
docs/pods.schema.json all come from here; ``make generate`` writes the files.
"""

from __future__ import annotations

from ansible_collections.ipu.pod.plugins.module_utils._vipu.fields import (
    C2_COMPATIBLE,
    GW_ROUTINGS,
    ROUTINGS,
    SYNC_TYPES,
)
from ansible_collections.ipu.pod.plugins.module_utils._vipu.sizes import ALLOCATION_SIZES, PARTITION_SIZES

from .._pod.controllers import FIRST_PORT, PORTS_OF_ONE
from .._pod.model import (
    ABSENT,
    DEDICATED,
    ENVIRONMENT,
    FILES,
    INSECURE,
    JOBS,
    LAYERS,
    MACVLAN,
    OWN,
    POD_MODELS,
    PRESENT,
    SECURE,
    SHARED,
)
from .._pod.schema import Address, Choice, Flag, Integer, Key, ListOf, MapOf, Record, Text
from .._pod.switches import ASCENDING, DESCENDING, DEVICE, EXTERNAL, KEPT, POD_OWNER, QUARANTINE, SPARE, STORAGE, UPLINK
from .kinds import (
    VLAN_ID,
    VLAN_NAME,
    VNI,
    MacAddress,
    NamedVlan,
    PortName,
    RoceDifferences,
    VlanReference,
    VlanReferences,
)

SCHEMA = 1

NAME = Text(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", "a name of letters, digits, '.', '_' and '-' (at most 63)", "a name")
ENTITY = Text(r"[A-Za-z0-9._-]{1,64}", "a V-IPU name of letters, digits, '.', '_' and '-' (at most 64)", "a V-IPU name")
HOST_OR_PORT = Text(r"[A-Za-z0-9][A-Za-z0-9/._-]{0,62}", "the name of a device or of a port")
PORT = Text(r"[Ee][Tt]([Hh][Ee][Rr][Nn][Ee][Tt])?\d+(/\d+)?", "a switch port such as Ethernet9/1", "a port")
PORT_OR_CHANNEL = PortName(
    r"[Ee][Tt][A-Za-z]*\d+(/\d+)*|[Pp][Oo][A-Za-z-]*\d+",
    "a port such as Ethernet9/1 or Et9, or a port channel such as Port-Channel5",
)
TEMPLATE = Text(
    r"([A-Za-z0-9._-]|\{(pod|lrack|n)\})+",
    "a template of {pod}, {lrack} and {n} such as lr{lrack}-ipum{n}",
    "a template",
)
MTU = Integer(1280, 9216)
SWITCH_MTU = Integer(1280, 9214)
IPUS = Integer(1, 1 << 20, "a whole number")
TCP_PORT = Integer(1, 65535)

AS_IT_IS = "kept as it is"
BY_ROLE = "by its role, else kept as it is"
BY_CONTROLLER = "what the controller does"
DERIVED = "derived"
BELOW = "those below"

PORT_SETTINGS = Record(
    (
        Key("description", Text(r"[ -~]*", "a text in one line"), "what it is for", derived=BY_ROLE),
        Key("mode", Choice(("access", "trunk")), "whether it carries one VLAN, or several", derived=BY_ROLE),
        Key("vlan", VlanReference(), "the VLAN of an access port", derived=BY_ROLE),
        Key("native_vlan", VlanReference(), "the VLAN that a trunk carries untagged", derived=BY_ROLE),
        Key(
            "vlans",
            ListOf(VlanReferences()),
            "what a trunk carries. The native VLAN, and at a server its tenant's, need not be listed",
            derived=BY_ROLE,
        ),
        Key("mtu", SWITCH_MTU, "in bytes", derived=BY_ROLE),
        Key("enabled", Flag(), "whether it is up", derived=BY_ROLE),
        Key(
            "channel_group",
            Integer(0, 2000),
            "the number of the port channel that it is a member of, 0 for none",
            derived=BY_ROLE,
        ),
        Key("lacp", Choice(("active", "passive", "on")), "how the member negotiates", derived=BY_ROLE),
        Key("spanning_tree_edge", Flag(), "whether it forwards at once (`spanning-tree portfast`)", derived=BY_ROLE),
        Key("lldp", Flag(), "whether it sends and receives LLDP", derived=BY_ROLE),
    )
)
OWNER = Key(
    "owner",
    Choice((POD_OWNER, EXTERNAL)),
    "on an external port nothing is ever touched, even if the map gives it to a device. The VLAN of that device is "
    "then its owner's business: placing a vPOD there moves nothing, and `verify.yml` shows what does not work",
    derived="by its role",
)
TOR_PORT = Record(
    (
        Key("role", Choice((STORAGE, UPLINK, SPARE)), "of a port that no declared device has", derived="by the map"),
        OWNER,
        Key(
            "roce", Flag(), "whether it gets the RoCE profile", derived="by its role: RNICs and managed uplinks get it"
        ),
        *PORT_SETTINGS.keys,
    )
)
MANAGEMENT_PORT = Record((OWNER, *PORT_SETTINGS.keys))

RNIC = Record(
    (
        Key("interface", NAME, "name of the first RNIC on the servers", "ens2f0"),
        Key(
            "vlan",
            VLAN_ID,
            "VLAN of the RNICs that no vPOD has",
            derived=f"the VLAN `{QUARANTINE}` of `pods.NAME.vlans`; without that, {AS_IT_IS}",
        ),
        Key("vni", VNI, "the VXLAN network of that VLAN"),
        Key("vlan_name", VLAN_NAME, "the name of that VLAN on the switch", derived="`NAME-rnic`"),
        Key("mtu", MTU, "MTU of the servers' RNICs, in bytes", derived=AS_IT_IS),
    )
)
TOR = Record(
    (
        Key(
            "ipu_machine_order",
            Choice((ASCENDING, DESCENDING)),
            "how the IPU-Machines are cabled, from port 9 to 24",
            ASCENDING,
        ),
        Key("address", Address(), "management address of the ToR switch", derived=DERIVED),
        Key("mtu", SWITCH_MTU, "MTU of the RNIC ports, in bytes", derived=AS_IT_IS),
        Key(
            "spanning_tree_edge",
            Flag(),
            "whether RNIC ports forward at once (`spanning-tree portfast`)",
            derived=AS_IT_IS,
        ),
        Key(
            "roce",
            RoceDifferences(),
            "quality of service of the RNIC ports",
            derived=AS_IT_IS,
            see="inventory.md#lossless-roce",
        ),
        Key(
            "ports",
            MapOf(PORT_OR_CHANNEL, TOR_PORT, "PORT"),
            "exceptions and additions by port name",
            {},
            see="inventory.md#switch-ports",
        ),
        Key("descriptions", Choice((DEVICE, KEPT)), "whether RNIC ports are described by their devices", DEVICE),
        Key(
            "spare_ports",
            Choice((KEPT, QUARANTINE)),
            f"`{QUARANTINE}` puts spare ports into the VLAN of that name",
            KEPT,
        ),
        Key(
            "canary",
            ListOf(HOST_OR_PORT),
            "devices or ports that are changed, checked and confirmed before the others",
            (),
        ),
    )
)
VLANS = Key(
    "vlans",
    MapOf(VLAN_NAME, NamedVlan(), "VLAN"),
    f"a VLAN that belongs to no tenant. Server ports carry all of them beside their tenant's, except `{QUARANTINE}`",
    {},
)
MANAGEMENT_SWITCH = Record(
    (
        Key("address", Address(), "its management address", required=True),
        Key("vlans", VLANS.kind, "its VLANs", {}),
        Key(
            "ports",
            MapOf(PORT_OR_CHANNEL, MANAGEMENT_PORT, "PORT"),
            "its ports, with the keys of those under `tor` but for `role` and `roce`",
            {},
            see="inventory.md#switch-ports",
        ),
    )
)
NAMES = Record(
    (
        Key("ipu_machine", TEMPLATE, "how IPU-Machines are named", "{pod}-ipum{n}"),
        Key("poplar_server", TEMPLATE, "how Poplar servers are named", "{pod}-poplar{n}"),
        Key("tor_switch", TEMPLATE, "how the ToR switch is named", "{pod}-tor"),
        Key("management_switch", TEMPLATE, "how the management switch is named", "{pod}-mgmt"),
    )
)
OVERRIDES = Record(
    (
        Key("bmc_address", Address(), "of an IPU-Machine", derived=DERIVED),
        Key("bmc_mac", MacAddress(), "of an IPU-Machine"),
        Key("gateway_address", Address(), "of an IPU-Machine", derived=DERIVED),
        Key("gateway_mac", MacAddress(), "of an IPU-Machine"),
        Key("management_address", Address(), "of a Poplar server or a switch", derived=DERIVED),
        Key("rnic_address", Address(), "of an IPU-Machine or a Poplar server", derived=DERIVED),
        Key("rnic_interface", NAME, "of a Poplar server", derived="`pods.NAME.rnic.interface`"),
        Key("rnic_mac", MacAddress(), "of an IPU-Machine or a Poplar server"),
        Key("rnic_mtu", MTU, "of a Poplar server, in bytes", derived="`pods.NAME.rnic.mtu`"),
        Key("rnic_prefix", Integer(8, 30), "of an IPU-Machine or a Poplar server", derived=DERIVED),
        Key("switch_port", PORT, "of an IPU-Machine", derived=DERIVED),
        Key("switch_ports", ListOf(PORT), "of a Poplar server", derived=DERIVED),
    )
)
POD = Record(
    (
        Key("model", Choice(tuple(sorted(POD_MODELS))), "the product", required=True),
        Key("lrack", Integer(1, 254), "logical rack number", 1),
        Key("addressing", Choice(("factory", "multi-rack")), "the plan of addresses", "factory"),
        Key("poplar_servers", Integer(1, 4), "how many stand in the rack", 1),
        Key("rnic", RNIC, "the RDMA NICs", {}, BELOW),
        Key("tor", TOR, "the ToR switch", {}, BELOW),
        VLANS,
        Key(
            "management_switch",
            MANAGEMENT_SWITCH,
            "only what is declared of it; nothing is derived",
            derived="no such host",
        ),
        Key("names", NAMES, "templates of `{pod}`, `{lrack}` and `{n}`", {}, BELOW),
        Key(
            "managed",
            ListOf(Choice(LAYERS)),
            "what may be changed; the rest is only read, and need not answer",
            LAYERS,
            "all three",
            see="ownership.md",
        ),
        Key(
            "canary",
            ListOf(NAME),
            "switches and Poplar servers that are changed before all others; their pod comes before pods without",
            (),
        ),
        Key(
            "excluded",
            ListOf(NAME),
            "IPU-Machines that are out of order: no vPOD gets them, and nobody waits for them",
            (),
            see="placement.md#a-dead-ipu-machine",
        ),
        Key(
            "hypervisors",
            ListOf(NAME),
            "Poplar servers that may be in several vPODs (this needs `rnic.vlan`); every other one is bare metal and "
            "in one vPOD at most",
            (),
            see="vpods.md#bare-metal-and-hypervisors",
        ),
        Key("virtual_functions", Integer(1, 127), "how many the RNIC of each hypervisor has", 8),
        Key(
            "overrides",
            MapOf(NAME, OVERRIDES, "DEVICE"),
            "host variables of that device that differ from the derived ones",
            {},
        ),
    )
)
CONTROLLER = Record(
    (
        Key("host", NAME, "the Poplar server that it runs on", derived="required, or `address`"),
        Key(
            "address",
            Address(),
            "its address, if it has a host of its own (which then has its name)",
            derived="required, or `host`",
        ),
        Key(
            "mode",
            Choice((INSECURE, SECURE)),
            f"`{SECURE}`: TLS with client certificates, and users with access keys",
            INSECURE,
        ),
        Key("user_port", TCP_PORT, "TCP port for users", 8090),
        Key("admin_port", TCP_PORT, "TCP port for administrators", 8091),
        Key(
            "strict_sizes",
            Flag(),
            "whether partitions follow the vendor's lists of sizes to the letter, which leave out 32 IPUs",
            False,
        ),
        Key(
            "any_replica_size", Flag(), "whether `replicas` may give them another number of IPUs than 1, 2 or 4", False
        ),
    )
)
CLUSTER = Record(
    (
        Key("controller", NAME, "its controller", required=True),
        Key("pods", ListOf(NAME), "its pods in ILD order", required=True),
        Key("topology", Choice(("mesh", "torus")), "of the IPU-Links", derived=BY_CONTROLLER),
        Key("looped", Flag(), "whether the GW-Links form a loop", derived=BY_CONTROLLER),
        Key(
            "spine",
            Flag(),
            "whether RNICs of different racks reach each other; without, a GCD's server stands in the rack of its IPUs",
            False,
        ),
    )
)
PARTITION = Record(
    (
        Key("ipus", IPUS, f"how many IPUs it has: {PARTITION_SIZES}", required=True),
        Key("gcds", IPUS, "how many; a GCD has at most 64 IPUs", derived="one"),
        Key("replicas", IPUS, "how many; a replica has 1, 2 or 4 IPUs", derived="one for each GCD"),
        Key("reconfigurable", Flag(), "whether several applications may share it; one GCD, at most 64 IPUs", False),
        Key("routing", Choice(ROUTINGS), "on the IPU-Links", derived=BY_CONTROLLER),
        Key("gw_routing", Choice(GW_ROUTINGS), "on the GW-Links", derived=BY_CONTROLLER),
        Key(
            "sync_type", Choice(SYNC_TYPES), f"`{C2_COMPATIBLE}` for all that is reconfigurable", derived=BY_CONTROLLER
        ),
        Key(
            "relocatable",
            Flag(),
            "whether the controller may move it to other IPUs on errors; counts at creation only",
            derived=BY_CONTROLLER,
        ),
        Key(
            "disable_auto_reset",
            Flag(),
            "whether the controller leaves it alone after errors; counts at creation only",
            derived=BY_CONTROLLER,
        ),
        Key(
            "poplar_servers",
            ListOf(NAME, repeat=True),
            "those of the vPOD that use it; with several GCDs one for all of them, or one for each in their order (a "
            "server may stand there several times)",
            (),
            "all, and each has all GCDs",
        ),
    )
)
CONTROLLER_PORTS = Record(
    (
        Key("user", TCP_PORT, "TCP port for users", derived=f"{FIRST_PORT} + {PORTS_OF_ONE} x `vlan`"),
        Key("admin", TCP_PORT, "TCP port for administrators", derived=f"{FIRST_PORT + 1} + {PORTS_OF_ONE} x `vlan`"),
        Key("metrics", TCP_PORT, "TCP port for Prometheus", derived=f"{FIRST_PORT + 2} + {PORTS_OF_ONE} x `vlan`"),
    )
)
VPOD = Record(
    (
        Key(
            "state",
            Choice((PRESENT, ABSENT)),
            f"`{ABSENT}`: the vPOD is to go; then only `cluster` is required, and the rest says what to take away",
            PRESENT,
            see="vpods.md",
        ),
        Key("cluster", NAME, "its cluster", required=True),
        Key("ipus", IPUS, f"how many IPUs it has: {ALLOCATION_SIZES}", 0, "required, unless absent"),
        Key("poplar_servers", ListOf(NAME), "a server belongs to one vPOD, a hypervisor may belong to several", ()),
        Key(
            "virtual_function",
            Integer(0, 126),
            "number of the virtual function that it has on each of its hypervisors",
            derived="required there",
        ),
        Key(
            "controller",
            Choice((SHARED, DEDICATED)),
            f"`{SHARED}`: that of its cluster; `{DEDICATED}`: a V-IPU controller of its own beside that one",
            SHARED,
            see="vpods.md#shared-and-dedicated-controllers",
        ),
        Key("controller_ports", CONTROLLER_PORTS, "of a dedicated controller", {}, BELOW),
        Key(
            "containers",
            Choice((MACVLAN,)),
            "its servers say how containers get RNIC addresses of their own",
            derived="nothing is said",
            see="vpods.md#containers",
        ),
        Key("vlan", VLAN_ID, "the tenant's VLAN", derived="`rnic.vlan` of the pod"),
        Key("vni", VNI, "the VXLAN network of that VLAN"),
        Key("vlan_name", VLAN_NAME, "the name of that VLAN on the switches", derived="`vpod-NAME`"),
        Key(
            "ipu_machines",
            ListOf(NAME),
            "pins: exactly these, which have to be a block, unless it has them already; others than it has move it",
            (),
            "placed freely",
        ),
        Key(
            "allocation",
            Choice((OWN, JOBS)),
            f"`{JOBS}`: it has none, and no partitions; Slurm makes one for each job, of some of `ipu_machines`, which "
            "are required",
            OWN,
            see="vpods.md#allocations-of-jobs",
        ),
        Key(
            "users",
            ListOf(ENTITY),
            f"V-IPU users, needed in `{SECURE}` mode; the servers' V-IPU client is the first of them",
            (),
        ),
        Key(
            "ipuof",
            Choice((ENVIRONMENT, FILES)),
            f"how Poplar learns of the partitions: `{ENVIRONMENT}` variables, or `{FILES}` for each GCD in "
            "`/etc/ipuof.conf.d`",
            ENVIRONMENT,
        ),
        Key("partitions", MapOf(ENTITY, PARTITION), "a V-IPU partition", {}),
    )
)
DOCUMENT = Record(
    (
        Key("plugin", Text(), "`ipu.pod.pods`, by which Ansible knows whose file it is", derived="required by Ansible"),
        Key("schema", Integer(SCHEMA, SCHEMA), "the version of the file's format", required=True),
        Key("pods", MapOf(NAME, POD), "one rack: its IPU-Machines, Poplar servers and switches", required=True),
        Key("controllers", MapOf(NAME, CONTROLLER), "a V-IPU controller", {}),
        Key("clusters", MapOf(NAME, CLUSTER), "a V-IPU cluster: the IPU-Machines of one or more pods", {}),
        Key("vpods", MapOf(ENTITY, VPOD), "a tenant's whole IPU-Machines, with servers and network", {}),
    )
)
