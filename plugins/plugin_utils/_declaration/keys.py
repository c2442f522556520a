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

from .._pod.kinds import (
    ADDRESS,
    FLAG,
    NO_TEMPLATE,
    WITHOUT_TEMPLATES,
    Key,
    MapOf,
    Record,
    choice,
    integer,
    list_of,
    text,
)
from .._pod.model import (
    ABSENT,
    DEDICATED,
    ENVIRONMENT,
    FILES,
    FIRST_PORT,
    INSECURE,
    JOBS,
    LAYERS,
    MACVLAN,
    OWN,
    POD_MODELS,
    PORTS_OF_ONE,
    PRESENT,
    SECURE,
    SHARED,
)
from .._pod.switches import ASCENDING, DESCENDING, DEVICE, EXTERNAL, KEPT, POD_OWNER, QUARANTINE, SPARE, STORAGE, UPLINK
from .cloud_keys import CLOUD, MACHINE_NAME, RUNNING_MACHINE, SHARE
from .network_kinds import (
    INTERFACE,
    MAC_ADDRESS,
    NAMED_VLAN,
    PORT_OR_CHANNEL,
    ROCE_DIFFERENCES,
    VLAN_ID,
    VLAN_NAME,
    VLAN_REFERENCE,
    VLAN_REFERENCES,
    VNI,
)

SCHEMA = 1

NAME = text(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", "a name of letters, digits, '.', '_' and '-' (at most 63)", "a name")
ENTITY = text(
    r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}",
    "a V-IPU name of letters, digits, '.', '_' and '-' (at most 64) that begins with a letter or a digit",
    "a V-IPU name",
)
HOST_OR_PORT = text(r"[A-Za-z0-9][A-Za-z0-9/._-]{0,62}", "the name of a device or of a port")
PORT = text(r"[Ee][Tt]([Hh][Ee][Rr][Nn][Ee][Tt])?\d+(/\d+)?", "a switch port such as Ethernet9/1", "a port")
TEMPLATE = text(
    r"([A-Za-z0-9._-]|\{(pod|lrack|n)\})+",
    "a template of {pod}, {lrack} and {n} such as lr{lrack}-ipum{n}",
    "a template",
)
DESCRIPTION = text(rf"{NO_TEMPLATE}[ -~]*", f"a text in one line {WITHOUT_TEMPLATES}", "a text in one line")
MTU = integer(1280, 9216)
SWITCH_MTU = integer(1280, 9214)
IPUS = integer(1, 1 << 20, "a whole number")
TCP_PORT = integer(1, 65535)

AS_IT_IS = "kept as it is"
BY_ROLE = "by its role, else kept as it is"
BY_CONTROLLER = "what the controller does"
DERIVED = "derived"
BELOW = "those below"

PORT_SETTINGS = Record(
    Key("description", DESCRIPTION, derived=BY_ROLE).means("what it is for"),
    Key("mode", choice("access", "trunk"), derived=BY_ROLE).means("whether it carries one VLAN, or several"),
    Key("vlan", VLAN_REFERENCE, derived=BY_ROLE).means("the VLAN of an access port"),
    Key("native_vlan", VLAN_REFERENCE, derived=BY_ROLE).means("the VLAN that a trunk carries untagged"),
    Key("vlans", list_of(VLAN_REFERENCES), derived=BY_ROLE).means(
        "what a trunk carries. The native VLAN, and at a server its tenant's, need not be listed"
    ),
    Key("mtu", SWITCH_MTU, derived=BY_ROLE).means("in bytes"),
    Key("enabled", FLAG, derived="kept as it is").means(
        "whether it is up. Without it a port that is shut down stays so, and is a finding"
    ),
    Key("channel_group", integer(0, 2000), derived=BY_ROLE).means(
        "the number of the port channel that it is a member of, 0 for none"
    ),
    Key("lacp", choice("active", "passive", "on"), derived=BY_ROLE).means("how the member negotiates"),
    Key("spanning_tree_edge", FLAG, derived=BY_ROLE).means("whether it forwards at once (`spanning-tree portfast`)"),
    Key("lldp", FLAG, derived=BY_ROLE).means("whether it sends and receives LLDP"),
)
OWNER = Key("owner", choice(POD_OWNER, EXTERNAL), derived="by its role").means(
    "on an external port nothing is ever touched, even if the map gives it to a device. The VLAN of that device is "
    "then its owner's business: placing a vPOD there moves nothing, and `verify.yml` shows what does not work"
)
TOR_PORT = Record(
    Key("role", choice(STORAGE, UPLINK, SPARE), derived="by the map").means("of a port that no declared device has"),
    OWNER,
    Key("roce", FLAG, derived="by its role: RNICs and managed uplinks get it").means(
        "whether it gets the RoCE profile"
    ),
    *PORT_SETTINGS.keys,
)
MANAGEMENT_PORT = Record(OWNER, *PORT_SETTINGS.keys)

RNIC = Record(
    Key("interface", INTERFACE, "ens2f0").means("name of the first RNIC on the servers"),
    Key("vlan", VLAN_ID, derived=f"the VLAN `{QUARANTINE}` of `pods.NAME.vlans`; without that, {AS_IT_IS}").means(
        "VLAN of the RNICs that no vPOD has"
    ),
    Key("vni", VNI).means("the VXLAN network of that VLAN"),
    Key("vlan_name", VLAN_NAME, derived="`NAME-rnic`").means("the name of that VLAN on the switch"),
    Key("mtu", MTU, derived=AS_IT_IS).means("MTU of the servers' RNICs, in bytes"),
)
TOR = Record(
    Key("ipu_machine_order", choice(ASCENDING, DESCENDING), ASCENDING).means(
        "how the IPU-Machines are cabled, from port 9 to 24"
    ),
    Key("address", ADDRESS, derived=DERIVED).means("management address of the ToR switch"),
    Key("mtu", SWITCH_MTU, derived=AS_IT_IS).means("MTU of the RNIC ports, in bytes"),
    Key("spanning_tree_edge", FLAG, derived=AS_IT_IS).means(
        "whether RNIC ports forward at once (`spanning-tree portfast`)"
    ),
    Key("roce", ROCE_DIFFERENCES, derived=AS_IT_IS, see="inventory.md#lossless-roce").means(
        "quality of service of the RNIC ports"
    ),
    Key("ports", MapOf(PORT_OR_CHANNEL, TOR_PORT, "PORT"), {}, see="inventory.md#switch-ports").means(
        "exceptions and additions by port name"
    ),
    Key("descriptions", choice(DEVICE, KEPT), DEVICE).means("whether RNIC ports are described by their devices"),
    Key("spare_ports", choice(KEPT, QUARANTINE), KEPT).means(
        f"`{QUARANTINE}` puts spare ports into the VLAN of that name"
    ),
    Key("canary", list_of(HOST_OR_PORT), ()).means(
        "devices or ports that are changed, checked and confirmed before the others"
    ),
)
VLANS = Key("vlans", MapOf(VLAN_NAME, NAMED_VLAN, "VLAN"), {}).means(
    f"a VLAN that belongs to no tenant. Server ports carry all of them beside their tenant's, except `{QUARANTINE}`"
)
MANAGEMENT_SWITCH = Record(
    Key("address", ADDRESS, required=True).means("its management address"),
    Key("vlans", VLANS.kind, {}).means("its VLANs"),
    Key("ports", MapOf(PORT_OR_CHANNEL, MANAGEMENT_PORT, "PORT"), {}, see="inventory.md#switch-ports").means(
        "its ports, with the keys of those under `tor` but for `role` and `roce`"
    ),
)
NAMES = Record(
    Key("ipu_machine", TEMPLATE, "{pod}-ipum{n}").means("how IPU-Machines are named"),
    Key("poplar_server", TEMPLATE, "{pod}-poplar{n}").means("how Poplar servers are named"),
    Key("tor_switch", TEMPLATE, "{pod}-tor").means("how the ToR switch is named"),
    Key("management_switch", TEMPLATE, "{pod}-mgmt").means("how the management switch is named"),
)
OVERRIDES = Record(
    Key("bmc_address", ADDRESS, derived=DERIVED).means("of an IPU-Machine"),
    Key("bmc_mac", MAC_ADDRESS).means("of an IPU-Machine"),
    Key("gateway_address", ADDRESS, derived=DERIVED).means("of an IPU-Machine"),
    Key("gateway_mac", MAC_ADDRESS).means("of an IPU-Machine"),
    Key("management_address", ADDRESS, derived=DERIVED).means("of a Poplar server or a switch"),
    Key("rnic_address", ADDRESS, derived=DERIVED).means("of an IPU-Machine or a Poplar server"),
    Key("rnic_interface", INTERFACE, derived="`pods.NAME.rnic.interface`").means("of a Poplar server"),
    Key("rnic_mac", MAC_ADDRESS).means("of an IPU-Machine or a Poplar server"),
    Key("rnic_mtu", MTU, derived="`pods.NAME.rnic.mtu`").means("of a Poplar server, in bytes"),
    Key("rnic_prefix", integer(8, 30), derived=DERIVED).means("of an IPU-Machine or a Poplar server"),
    Key("switch_port", PORT, derived=DERIVED).means("of an IPU-Machine"),
    Key("switch_ports", list_of(PORT), derived=DERIVED).means("of a Poplar server"),
)
POD = Record(
    Key("model", choice(*sorted(POD_MODELS)), required=True).means("the product"),
    Key("lrack", integer(1, 254), 1).means("logical rack number"),
    Key("addressing", choice("factory", "multi-rack"), "factory").means("the plan of addresses"),
    Key("poplar_servers", integer(1, 4), 1).means("how many stand in the rack"),
    Key("rnic", RNIC, {}, derived=BELOW).means("the RDMA NICs"),
    Key("tor", TOR, {}, derived=BELOW).means("the ToR switch"),
    VLANS,
    Key("management_switch", MANAGEMENT_SWITCH, derived="no such host").means(
        "only what is declared of it; nothing is derived"
    ),
    Key("names", NAMES, {}, derived=BELOW).means("templates of `{pod}`, `{lrack}` and `{n}`"),
    Key("managed", list_of(choice(*LAYERS)), LAYERS, derived="all three", see="ownership.md").means(
        "what may be changed; the rest is only read, and need not answer"
    ),
    Key("canary", list_of(NAME), ()).means(
        "switches and Poplar servers that are changed before all others; their pod comes before pods without"
    ),
    Key("excluded", list_of(NAME), (), see="placement.md#a-dead-ipu-machine").means(
        "IPU-Machines that are out of order: no vPOD gets them, and nobody waits for them"
    ),
    Key("hypervisors", list_of(NAME), (), see="vpods.md#bare-metal-and-hypervisors").means(
        "Poplar servers that may be in several vPODs (this needs `rnic.vlan`); every other one is bare metal and "
        "in one vPOD at most"
    ),
    Key("virtual_functions", integer(0, 127), 8).means(
        "how many the RNIC of each hypervisor has; 0: none, a bridge there carries the tagged frames of its machines"
    ),
    Key("overrides", MapOf(NAME, OVERRIDES, "DEVICE"), {}).means(
        "host variables of that device that differ from the derived ones"
    ),
)
CONTROLLER = Record(
    Key("host", NAME, derived="required, or `address`").means("the Poplar server that it runs on"),
    Key("address", ADDRESS, derived="required, or `host`").means(
        "its address, if it has a host of its own (which then has its name)"
    ),
    Key("mode", choice(INSECURE, SECURE), INSECURE).means(
        f"`{SECURE}`: TLS with client certificates, and users with access keys"
    ),
    Key("user_port", TCP_PORT, 8090).means("TCP port for users"),
    Key("admin_port", TCP_PORT, 8091).means("TCP port for administrators"),
    Key("strict_sizes", FLAG, False).means(
        "whether partitions follow the vendor's lists of sizes to the letter, which leave out 32 IPUs"
    ),
    Key("any_replica_size", FLAG, False).means(
        "whether `replicas` may give them another number of IPUs than 1, 2 or 4"
    ),
)
CLUSTER = Record(
    Key("controller", NAME, required=True).means("its controller"),
    Key("pods", list_of(NAME), required=True).means("its pods in ILD order"),
    Key("topology", choice("mesh", "torus"), derived=BY_CONTROLLER).means("of the IPU-Links"),
    Key("looped", FLAG, derived=BY_CONTROLLER).means("whether the GW-Links form a loop"),
    Key("spine", FLAG, False).means(
        "whether RNICs of different racks reach each other; without, a GCD's server stands in the rack of its IPUs"
    ),
)
PARTITION = Record(
    Key("ipus", IPUS, required=True).means(f"how many IPUs it has: {PARTITION_SIZES}"),
    Key("gcds", IPUS, derived="one").means("how many; a GCD has at most 64 IPUs"),
    Key("replicas", IPUS, derived="one for each GCD").means("how many; a replica has 1, 2 or 4 IPUs"),
    Key("reconfigurable", FLAG, False).means("whether several applications may share it; one GCD, at most 64 IPUs"),
    Key("routing", choice(*ROUTINGS), derived=BY_CONTROLLER).means("on the IPU-Links"),
    Key("gw_routing", choice(*GW_ROUTINGS), derived=BY_CONTROLLER).means("on the GW-Links"),
    Key("sync_type", choice(*SYNC_TYPES), derived=BY_CONTROLLER).means(
        f"`{C2_COMPATIBLE}` for all that is reconfigurable"
    ),
    Key("relocatable", FLAG, derived=BY_CONTROLLER).means(
        "whether the controller may move it to other IPUs on errors; counts at creation only"
    ),
    Key("disable_auto_reset", FLAG, derived=BY_CONTROLLER).means(
        "whether the controller leaves it alone after errors; counts at creation only"
    ),
    Key("poplar_servers", list_of(NAME, repeat=True), (), derived="all, and each has all GCDs").means(
        "those of the vPOD that use it; with several GCDs one for all of them, or one for each in their order (a "
        "server may stand there several times)"
    ),
)
CONTROLLER_PORTS = Record(
    Key("user", TCP_PORT, derived=f"{FIRST_PORT} + {PORTS_OF_ONE} x `vlan`").means("TCP port for users"),
    Key("admin", TCP_PORT, derived=f"{FIRST_PORT + 1} + {PORTS_OF_ONE} x `vlan`").means("TCP port for administrators"),
    Key("metrics", TCP_PORT, derived=f"{FIRST_PORT + 2} + {PORTS_OF_ONE} x `vlan`").means("TCP port for Prometheus"),
)
VPOD = Record(
    Key("state", choice(PRESENT, ABSENT), PRESENT, see="vpods.md").means(
        f"`{ABSENT}`: the vPOD is to go; then only `cluster` is required, and the rest says what to take away"
    ),
    Key("cluster", NAME, required=True).means("its cluster"),
    Key("ipus", IPUS, 0, derived="required, unless absent").means(f"how many IPUs it has: {ALLOCATION_SIZES}"),
    Key("poplar_servers", list_of(NAME), ()).means("a server belongs to one vPOD, a hypervisor may belong to several"),
    Key("virtual_function", integer(0, 126), derived="required there").means(
        "number of the virtual function that it has on each of its hypervisors, where these have some; for machines in "
        "a cloud Nova chooses"
    ),
    Key("controller", choice(SHARED, DEDICATED), SHARED, see="vpods.md#shared-and-dedicated-controllers").means(
        f"`{SHARED}`: that of its cluster; `{DEDICATED}`: a V-IPU controller of its own"
    ),
    Key("controller_address", ADDRESS, derived="beside that of its cluster", see="vpods.md#a-host-of-its-own").means(
        "of a dedicated controller: its address, if it has a host of its own (which then is called `NAME-controller`)"
    ),
    Key("controller_ports", CONTROLLER_PORTS, {}, derived=BELOW).means("of a dedicated controller"),
    Key("containers", choice(MACVLAN), derived="nothing is said", see="containers.md").means(
        "containers on its servers have IPUs and RNIC addresses of their own; on its hypervisors by its virtual "
        "function, one at a time"
    ),
    Key("vlan", VLAN_ID, derived="`rnic.vlan` of the pod").means("the tenant's VLAN"),
    Key("vni", VNI).means("the VXLAN network of that VLAN"),
    Key("vlan_name", VLAN_NAME, derived="`vpod-NAME`").means("the name of that VLAN on the switches"),
    Key("ipu_machines", list_of(NAME), (), derived="placed freely").means(
        "pins: exactly these, which have to be a block, unless it has them already; others than it has move it"
    ),
    Key("allocation", choice(OWN, JOBS), OWN, see="vpods.md#allocations-of-jobs").means(
        f"`{JOBS}`: it has none, and no partitions; Slurm makes one for each job, of some of `ipu_machines`, which "
        "are required"
    ),
    Key("users", list_of(ENTITY), ()).means(
        f"V-IPU users, needed in `{SECURE}` mode; the servers' V-IPU client is the first of them"
    ),
    Key("ipuof", choice(ENVIRONMENT, FILES), ENVIRONMENT).means(
        f"how Poplar learns of the partitions: `{ENVIRONMENT}` variables, or `{FILES}` for each GCD in "
        "`/etc/ipuof.conf.d`"
    ),
    Key("partitions", MapOf(ENTITY, PARTITION), {}).means("a V-IPU partition"),
    Key("cloud", SHARE, derived="none", see="virtual-machines.md").means("what it has in a cloud"),
)
DOCUMENT = Record(
    Key("plugin", text(), derived="required by Ansible").means(
        "`ipu.pod.pods`, by which Ansible knows whose file it is"
    ),
    Key("schema", integer(SCHEMA, SCHEMA), required=True).means("the version of the file's format"),
    Key("pods", MapOf(NAME, POD), required=True).means("one rack: its IPU-Machines, Poplar servers and switches"),
    Key("controllers", MapOf(NAME, CONTROLLER), {}).means("a V-IPU controller"),
    Key("clusters", MapOf(NAME, CLUSTER), {}).means("a V-IPU cluster: the IPU-Machines of one or more pods"),
    Key("vpods", MapOf(ENTITY, VPOD), {}).means("a tenant's whole IPU-Machines, with servers and network"),
    Key("clouds", MapOf(NAME, CLOUD), {}, see="virtual-machines.md").means("an OpenStack"),
    Key(
        "machines",
        MapOf(MACHINE_NAME, RUNNING_MACHINE),
        {},
        see="virtual-machines.md#ipus-for-a-running-machine",
    ).means("a virtual machine that runs: CLOUD/NAME, or HYPERVISOR/DOMAIN of libvirt"),
)
