# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A container image that is made on a simulated server, without any registry."""

from __future__ import annotations

# The programs of the machine, and nothing of its own but a busybox.
MAKE_IMAGE = """
set -e
mkdir -p /tmp/image && cd /tmp/image
mkdir -p bin etc lib lib64 proc sys dev tmp run usr opt root
cp /usr/bin/busybox bin/ && for each in $(busybox --list); do ln -sf busybox bin/$each; done
rm bin/ping && cp /usr/bin/ping bin/ # without the capability that its file has, and that no container has
for each in $(ldd /usr/bin/busybox | grep -o '/[^ ]*'); do
cp --parents -L $each . ; done
echo root:x:0:0::/root:/bin/sh >etc/passwd
tar -c . | podman import --quiet - poplar && tar -c . | docker import - poplar && rm -r /tmp/image
"""
# What a test needs of the machine's programs, in a container of root.
PROGRAMS = "--volume /usr:/usr:ro --volume /opt:/opt:ro --env PATH=/bin:/usr/bin"
WORKLOAD = "/usr/local/bin/ipu-workload"
# The same with SSH and Open MPI, as sessions have it; what a library or a program needs comes with it.
MAKE_IMAGE_WITH_MPI = r"""
set -e
mkdir -p /tmp/image && cd /tmp/image
mkdir -p bin usr/bin usr/lib usr/lib64 usr/sbin etc/alternatives etc/ssh/ssh_config.d proc sys dev run opt root
mkdir -m 1777 tmp && ln -s usr/lib usr/lib64 usr/sbin .
for each in $(busybox --list); do ln -s busybox bin/$each; done
cp --remove-destination /usr/bin/busybox /usr/bin/ping bin/ # without the capability of its file
libraries=$(dpkg-query --show --showformat '${Package}\n' | grep -E '^lib(openmpi|pmix|hwloc)')
dpkg --listfiles openssh-client openssh-server openmpi-bin openmpi-common $libraries | sort -u |
grep -E '^/(usr/)?(s?bin|lib|share/(openmpi|pmix|hwloc)|etc/(openmpi|ssh))' >/tmp/files
while read -r each; do [ ! -f "$each" ] || cp --parents --no-dereference "$each" .; done </tmp/files
cp --no-dereference /usr/bin/mpirun usr/bin/ && cp --no-dereference /etc/alternatives/mpirun etc/alternatives/
for each in $(find bin usr -type f); do ldd /$each 2>/dev/null | grep -o '/lib[^ ]*' || true; done | sort -u >/tmp/files
for each in $(cat /tmp/files); do cp --parents --dereference $each .; done
printf 'root:x:0:0::/root:/bin/sh\nsshd:x:100:65534::/run/sshd:/bin/false\n' >etc/passwd
tar -c . | podman import --quiet - poplar && tar -c . | docker import - poplar && rm -r /tmp/image /tmp/files
"""
