# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The users of an interface, as read from /proc, /sys and the rdma tool."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host.files import Files
from ansible_collections.ipu.pod.plugins.module_utils._host.programs import Programs
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from ansible_collections.ipu.pod.plugins.module_utils._rnic.client import Client
from ansible_collections.ipu.pod.plugins.module_utils._rnic.server import links_of
from ansible_collections.ipu.pod.plugins.module_utils._rnic.sysfs import Function, Sysfs
from ansible_collections.ipu.pod.plugins.module_utils._rnic.uses import (
    Mount,
    QueuePair,
    Uses,
    mounts_from,
    netdevs_from,
    queue_pairs_from,
)
from ansible_collections.ipu.pod.plugins.module_utils._roce.survey import rdma_devices_from
from tests.support.hostile import HOSTILE, is_seen


@pytest.mark.parametrize(
    ("line", "address"),
    [
        ("10.5.9.9:/export /data nfs4 rw,addr=10.5.9.9 0 0", "10.5.9.9"),
        ("storage:/export /data nfs rw,proto=rdma,mountaddr=10.1.1.1,addr=10.5.9.9 0 0", "10.5.9.9"),
        ("[fd00::9]:/export /data nfs4 rw,addr=fd00::9 0 0", "fd00::9"),
        ("//files/share /data cifs rw,addr=10.5.9.9 0 0", "10.5.9.9"),
        ("10.5.9.9:6789,10.5.9.8:6789:/ /data ceph rw 0 0", "10.5.9.9"),
        ("10.5.9.9@tcp:/fs /data lustre rw 0 0", "10.5.9.9"),
        ("storage:/vol /data fuse.glusterfs rw 0 0", None),
    ],
)
def test_address_of_a_mounts_server(line: str, address: str | None) -> None:
    (mount,) = mounts_from(line + "\n")
    assert (mount.path, mount.address) == ("/data", address)


def test_local_mounts_are_none_of_our_business_and_blanks_are_blanks() -> None:
    local = "/dev/sda1 / ext4 rw 0 0\nproc /proc proc rw 0 0\n"
    (mount,) = mounts_from(local + "10.5.9.9:/my\\040data /my\\040data nfs rw 0 0\n")
    assert str(mount) == "/my data (nfs from 10.5.9.9:/my data)"


@pytest.mark.parametrize("kind", ["fuse.sshfs", "fuse.glusterfs", "fuse.s3fs"])
@pytest.mark.parametrize("source", ["nowhere:/x", "10.5.9.9:/x"])
def test_a_users_own_mount_is_no_use_and_that_of_root_is_one(kind: str, source: str) -> None:
    theirs = f"{source} /home/mallory/x {kind} rw,nosuid,nodev,relatime,user_id=1000,group_id=1000 0 0\n"
    roots = f"{source} /data {kind} rw,relatime,user_id=0,group_id=0,allow_other 0 0\n"
    kernels = f"{source} /kernels nfs4 rw,user_id=1000,addr=10.5.9.9 0 0\n"
    assert [mount.path for mount in mounts_from(theirs + roots + kernels)] == ["/data", "/kernels"]


# What Python, but not the kernel, takes for the end of a line or of a word.
ENDS = [sign for sign in map(chr, range(sys.maxunicode + 1)) if sign.isspace() and sign not in " \t\n"]


@pytest.mark.parametrize("end", ENDS, ids=ascii)
def test_no_name_of_a_mount_makes_another_one_up_or_hides_its_own(end: str) -> None:
    theirs = "nowhere:/x {} fuse.sshfs rw,user_id=1000,group_id=1000 0 0\n"
    for words in (["/x", "nfs4", "rw"], ["/x", "nowhere:/x", "/x", "nfs4", "rw", "0", "0"]):
        assert mounts_from(theirs.format(end.join(words))) == []
    (mount,) = mounts_from(f"10.5.9.9:/x /data/a{end}b nfs4 rw,addr=10.5.9.9 0 0\n")
    assert mount.path == f"/data/a{end}b"


def test_what_a_users_own_mount_is_called_need_not_be_text(tmp_path: Path) -> None:
    (tmp_path / "proc" / "self").mkdir(parents=True)
    theirs = b"nowhere:/x /home/mallory/\xff\xfe fuse.sshfs rw,user_id=1000 0 0\n"
    (tmp_path / "proc" / "self" / "mounts").write_bytes(theirs + b"gluster1:/vol /data fuse.glusterfs rw 0 0\n")
    programs = Programs(lambda _argv: (0, "", ""))
    client = Client(programs, Files(str(tmp_path)), Sysfs(str(tmp_path)), frozenset())
    assert [mount.path for mount, _device in client.uses([]).mounts] == ["/data"]


@pytest.mark.parametrize("name", ["\x1b[2Jx", "a\nb", "\x01\x1f", "\x9b31m"], ids=ascii)
def test_the_name_of_a_program_or_an_interface_hides_no_other(name: str) -> None:
    # iproute2 writes control characters into its JSON as they are.
    printed = '[{"ifname": "mlx5_0", "lqpn": 71, "type": "UD", "pid": 12, "comm": "%s", "netdev": "%s", "port": 1}]'
    said = printed % (name, name)
    assert [pair.user for pair in queue_pairs_from(said)] == [f"{name} (process 12)"]
    assert netdevs_from(said) == {"mlx5_0": name}
    assert rdma_devices_from(said) == {name: ("mlx5_0", 1)}
    there = f'[{{"ifname": "{name}", "ifindex": 7, "addr_info": [], "mtu": 1500, "flags": []}}]'
    assert list(links_of(Programs(lambda _argv: (0, there, "")))) == [name]


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_a_use_is_told_in_one_short_line_whatever_it_is_called(name: str) -> None:
    mount = Mount(f"/data/{name}", "nfs4", f"{name}:/x", None)
    uses = Uses([(mount, None)], {}, [QueuePair("mlx5_0", 1, name)])
    told = uses.of("rnic0", {})
    assert len(told) == 2
    assert all(is_seen(use) and len(use) <= 250 for use in told)


def test_queue_pairs_but_the_kernels_own() -> None:
    common = {"ifindex": 0, "ifname": "mlx5_0", "port": 1, "state": "RTS"}
    smi = {**common, "lqpn": 0, "type": "SMI", "comm": "ib_core"}
    gsi = {**common, "lqpn": 1, "type": "GSI", "comm": "ib_core"}
    nfs = {**common, "lqpn": 70, "type": "RC", "comm": "rpcrdma"}
    job = {**common, "lqpn": 71, "type": "UD", "pid": 12, "comm": "train"}
    assert [str(pair) for pair in queue_pairs_from(json.dumps([smi, gsi, nfs, job]))] == [
        "queue pair 70 on mlx5_0 of rpcrdma",
        "queue pair 71 on mlx5_0 of train (process 12)",
    ]


@pytest.mark.parametrize("answer", ["no such thing", "{}", '[{"ifname": "mlx5_0", "type": "RC"}]'])
def test_an_unknown_answer_is_an_error_and_not_an_empty_list(answer: str) -> None:
    with pytest.raises(DeviceError):
        queue_pairs_from(answer)


def test_network_device_of_an_rdma_device() -> None:
    links = [{"ifindex": 0, "ifname": "mlx5_0", "port": 1, "netdev": "rnic0"}, {"ifindex": 1, "ifname": "mlx5_1"}]
    assert netdevs_from(json.dumps(links)) == {"mlx5_0": "rnic0", "mlx5_1": None}


def test_nics_in_sysfs(tmp_path: Path) -> None:
    pf, first, second = (tmp_path / "devices" / f"0000:81:00.{number}" for number in (0, 2, 3))
    for folder in (pf / "net" / "rnic0", first / "net" / "vf0", second, tmp_path / "class" / "net"):
        folder.mkdir(parents=True)
    for name, target in {"virtfn0": first, "virtfn1": second}.items():
        (pf / name).symlink_to(target)
    for function, driver in {first: "mlx5_core", second: "vfio-pci"}.items():
        (tmp_path / "drivers" / driver).mkdir(parents=True)
        (function / "driver").symlink_to(tmp_path / "drivers" / driver)
    (first / "infiniband_verbs" / "uverbs3").mkdir(parents=True)
    (pf / "net" / "rnic0" / "mtu").write_text("9000\n")
    (pf / "sriov_totalvfs").write_text("8\n")
    (tmp_path / "class" / "net" / "rnic0").symlink_to(pf / "net" / "rnic0")
    (pf / "net" / "rnic0" / "device").symlink_to(pf)
    (tmp_path / "class" / "net" / "lo").mkdir()
    (tmp_path / "class" / "infiniband" / "mlx5_0").mkdir(parents=True)
    sysfs = Sysfs(str(tmp_path))
    assert sysfs.pci_addresses() == {"rnic0": "0000:81:00.0"}
    assert sysfs.max_virtual_functions() == {"rnic0": 8}
    assert sysfs.rdma_devices() == ["mlx5_0"]
    assert (sysfs.mtu("rnic0"), sysfs.mtu("lo")) == ("9000", "")
    assert sysfs.functions("rnic0") == [
        Function(0, "0000:81:00.2", "mlx5_core", ("vf0",), ("uverbs3",)),
        Function(1, "0000:81:00.3", "vfio-pci", ()),
    ]
    assert sysfs.functions("lo") == []
