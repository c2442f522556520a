# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The uses of a server's NIC, and how a refusal names each."""

from __future__ import annotations

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from ansible_collections.ipu.pod.plugins.module_utils._rnic.sysfs import Function
from tests.support.in_memory.server import Nic, TinyServer

NFS = "10.5.9.9:/export/data /data nfs4 rw,vers=4.2,proto=tcp,addr=10.5.9.9 0 0\n"


def as_it_is(server: TinyServer) -> None:
    """Nothing special about the server."""


def mounted(server: TinyServer) -> None:
    server.files.files["/proc/self/mounts"] = File(NFS)


def mounted_from_an_unknown_address(server: TinyServer) -> None:
    server.files.files["/proc/self/mounts"] = File("gluster1:/vol /data fuse.glusterfs rw 0 0\n")


def queue_pair(server: TinyServer) -> None:
    server.sysfs.rdma = ["mlx5_0"]
    server.rdma_links = [{"ifindex": 0, "port": 1, "ifname": "mlx5_0", "state": "ACTIVE", "netdev": "rnic0"}]
    kernels_own = {"ifname": "mlx5_0", "port": 1, "lqpn": 1, "type": "GSI", "state": "RTS", "comm": "ib_core"}
    job = {"ifname": "mlx5_0", "port": 1, "lqpn": 271, "type": "RC", "state": "RTS", "pid": 4711, "comm": "train"}
    server.queue_pairs = [kernels_own, job]


def unknown_queue_pairs(server: TinyServer) -> None:
    server.sysfs.rdma = ["mlx5_0"]
    server.queue_pairs = None


def given_to_a_machine(server: TinyServer) -> None:
    server.sysfs.taken["rnic0"] = [Function(0, "0000:81:00.2", "vfio-pci", ())]


def in_another_namespace(server: TinyServer) -> None:
    server.sysfs.taken["rnic0"] = [Function(0, "0000:81:00.2", "mlx5_core", ())]


def with_an_address(server: TinyServer) -> None:
    server.nics["vf0"] = Nic("02:00:00:00:01:00", addresses=["10.8.1.1/16"])
    server.sysfs.taken["rnic0"] = [Function(0, "0000:81:00.2", "mlx5_core", ("vf0",))]


USES = [
    (mounted, "/data (nfs4 from 10.5.9.9:/export/data)"),
    (mounted_from_an_unknown_address, "/data (fuse.glusterfs from gluster1:/vol)"),
    (queue_pair, "queue pair 271 on mlx5_0 of train (process 4711)"),
    (unknown_queue_pairs, "RDMA queue pairs that cannot be listed (is the program rdma installed?)"),
    (given_to_a_machine, "virtual function 0 of rnic0 (0000:81:00.2, given to a virtual machine)"),
    (in_another_namespace, "virtual function 0 of rnic0 (0000:81:00.2, in another network namespace)"),
    (with_an_address, "virtual function 0 of rnic0 (vf0 has 10.8.1.1/16)"),
]
