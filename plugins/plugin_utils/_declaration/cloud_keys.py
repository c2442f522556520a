# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of pods.yml that are about clouds. Data, as in :mod:`keys`."""

from __future__ import annotations

import ipaddress
from typing import Any

from .._pod.clouds import KEPT_MACHINES, NO_NUMA, TENANT
from .._pod.kinds import (
    ADDRESS,
    FLAG,
    NO_TEMPLATE,
    WITHOUT_TEMPLATES,
    Key,
    Kind,
    MapOf,
    Record,
    choice,
    either,
    integer,
    list_of,
    scalar,
    text,
)
from .network_kinds import VLAN_ID


def _network(value: Any) -> str | None:
    try:
        return str(ipaddress.IPv4Network(value)) if isinstance(value, str) and "/" in value else None
    except ValueError:
        return None


SUBNET = scalar(
    "a network such as 10.30.1.0/24",
    {"type": "string", "pattern": r"^[0-9.]+/[0-9]+$"},
    "is not a network such as 10.30.1.0/24",
    _network,
)
WORD = text(
    rf"{NO_TEMPLATE}[!-~]([ -~]{{0,253}}[!-~])?",
    f"a name of 1 to 255 characters in one line; {WITHOUT_TEMPLATES}",
    "a name in the cloud",
)
SHORT_NAME = text(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", "a name of letters, digits, '.', '_' and '-' (at most 63)")
MACHINE_NAME = text(
    r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}/[A-Za-z0-9][A-Za-z0-9._-]{0,254}",
    "the name of a cloud or of a hypervisor, a slash, and that of a machine there, such as cloud001/train",
    "the name of a machine",
)
PATH = text(rf"{NO_TEMPLATE}/[!-~]+", f"an absolute path without spaces; {WITHOUT_TEMPLATES}", "an absolute path")
PUBLIC_KEY = text(
    rf"{NO_TEMPLATE}(ssh|ecdsa|sk)-[a-z0-9@.-]+ [A-Za-z0-9+/=]+( [ -~]*)?",
    f"a public key of SSH such as 'ssh-ed25519 AAAA... name'; {WITHOUT_TEMPLATES}",
    "a public key of SSH",
)
LOGIN = text(r"[a-z_][a-z0-9_-]{0,31}", "the name of a user such as debian", "a user")
COUNT = integer(0, 1 << 30, "a whole number")
SIZE = integer(1, 1 << 30, "a whole number")
NUMA_NODES: Kind = either(
    f"`{NO_NUMA}`, or 1 to 16",
    (choice(NO_NUMA), integer(1, 16)),
    lambda value: choice(NO_NUMA) if isinstance(value, str) else integer(1, 16),
)
KEPT_AS_IT_IS = "kept as it is"

IMAGE = Record(
    Key("file", PATH, required=True).means("the file on the control node that a run uploads"),
    Key("disk_format", choice("qcow2", "raw"), "qcow2").means("of that file"),
)
MANAGEMENT_NETWORK = Record(
    Key("network", WORD, required=True).means("an existing network of the operator's with the management addresses"),
    Key("sources", list_of(SUBNET), required=True).means(
        "who may reach TCP port 22 of machines there, such as the control node"
    ),
    Key("hypervisors", list_of(SHORT_NAME), required=True).means(
        "the compute nodes that have it, and no Poplar server"
    ),
)
CLOUD = Record(
    Key("entry", WORD, derived="its name").means("its entry of clouds.yaml, where its credentials stand"),
    Key("physical_network", WORD, required=True).means("what Neutron calls the physical network of the RNICs"),
    Key("control_network", WORD, required=True).means("an existing network by which machines are reached"),
    Key("control_sources", list_of(SUBNET), required=True).means("who may reach TCP port 22 of machines there"),
    Key("controllers", MapOf(SHORT_NAME, ADDRESS, "HOST"), {}).means(
        "by which address machines reach that host of a V-IPU controller, if not by its management address; the "
        "certificate of a secure one is for it, too"
    ),
    Key("images", MapOf(WORD, IMAGE, "IMAGE"), {}).means("an image that a run uploads"),
    Key("management", MANAGEMENT_NETWORK, derived="none").means(
        "where machines of dedicated V-IPU controllers reach IPU-Machines"
    ),
)
QUOTA = Record(
    *(
        Key(name, COUNT, derived=KEPT_AS_IT_IS).means(meaning)
        for name, meaning in (
            ("instances", "how many machines"),
            ("cores", "how many virtual CPUs"),
            ("ram", "how much memory, in MiB"),
            ("volumes", "how many volumes"),
            ("gigabytes", "how large these are together, in GiB"),
        )
    )
)
MACHINE = Record(
    Key("vcpus", SIZE, 4).means("its virtual CPUs"),
    Key("memory", SIZE, 8192).means("its memory, in MiB"),
    Key("disk", COUNT, 20).means("its disk, in GiB"),
    Key("dedicated_cpus", FLAG, False).means("whether each virtual CPU has a CPU of the hypervisor to itself"),
    Key("huge_pages", FLAG, False).means("whether its memory is made of huge pages"),
    Key("numa_nodes", NUMA_NODES, NO_NUMA).means("how many NUMA nodes it sees"),
)
CONTROLLER_MACHINE = Record(
    Key("image", WORD, required=True).means("what it starts from; one of `images`, or one that exists"),
    Key("key", PUBLIC_KEY, required=True).means("whose holder gets a shell in it"),
    Key("clients", list_of(SUBNET), required=True).means(
        "who may reach its TCP port for users on the control network: the tenant's machines"
    ),
    Key("machine", MACHINE, {}, derived="as below").means("what it has; its flavor"),
)
STORAGE_NETWORK = Record(
    Key("vlan", VLAN_ID, required=True).means("its VLAN"),
    Key("physical_network", WORD, derived="that of the RNICs").means("what Neutron calls its physical network"),
    Key("subnet", SUBNET, required=True).means("its addresses"),
)
SHARE = Record(
    Key("name", SHORT_NAME, required=True).means("which one of `clouds`"),
    Key("project", WORD, derived="the vPOD's name").means("the tenant's project; no other vPOD has it"),
    Key("domain", WORD, "Default").means("the domain of the project and of its users"),
    Key("users", list_of(WORD), ()).means("existing users who get the role"),
    Key("role", WORD, "member").means("the role that they get in the project"),
    Key("quota", QUOTA, {}, derived=KEPT_AS_IT_IS).means("what the project may use"),
    Key("image", WORD).means("what machines that are kept start from; one of `images`, or one that exists"),
    Key("login", LOGIN, "root").means(
        "the user of the machines' image who has the V-IPU credentials in them, such as `debian` or `ubuntu`"
    ),
    Key("ipus_per_machine", SIZE, derived="all of its IPUs").means(
        "for how many IPUs there is one machine: the ratio of CPUs to IPUs"
    ),
    Key("machine", MACHINE, {}, derived="those below").means("what a machine has; its flavor"),
    Key("machines", choice(TENANT, KEPT_MACHINES), TENANT).means(
        f"who makes machines: `{TENANT}`, or, with `{KEPT_MACHINES}`, the run"
    ),
    Key("volumes", MapOf(SHORT_NAME, SIZE, "VOLUME"), {}).means(
        f"with `{KEPT_MACHINES}`: its size in GiB; each machine has one"
    ),
    Key("key", PUBLIC_KEY).means(f"with `{KEPT_MACHINES}`: whose holder gets a shell in the machines"),
    Key("controller", CONTROLLER_MACHINE, derived="none").means(
        "the machine of its dedicated V-IPU controller, which the run keeps at `controller_address`"
    ),
    Key("storage", STORAGE_NETWORK, derived="none").means("a storage network"),
)
RUNNING_MACHINE = Record(
    Key("vpod", SHORT_NAME, derived="none").means("whose IPUs it has"),
    Key("address", ADDRESS, derived="that in the cloud's `control_network`").means("where SSH reaches it"),
    Key("user", WORD, "root").means("who logs in there, and becomes root"),
)
