#!/usr/bin/env bash
# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Runs Python as on a machine of its own, so that several simulated pods can run side by side: with its own network,
# processes and containers, and its own files where a pod, Ansible's connections and the locks of a control node keep
# theirs. All of it is gone with the last process. Without root it runs Python here, where the tests say what they need.
set -euo pipefail

if [[ $EUID -ne 0 ]] || ! command -v podman >/dev/null; then
    exec python "$@"
fi
if [[ ${1:-} != --inside ]]; then
    # The kernel has one ARP table for all network namespaces, by default too small for several pods side by side.
    for limit in /proc/sys/net/ipv4/neigh/default/gc_thresh{2,3}; do
        if (($(<"$limit") < 16384)); then
            echo 16384 >"$limit"
        fi
    done
    exec unshare --net --mount --pid --fork --kill-child --mount-proc "$0" --inside "$@"
fi
shift

ip link set lo up
images=$(podman info --format '{{.Store.GraphRoot}}')
mkdir -p build ~/.ansible /var/lib/ipu-pod
for folder in /run /dev/shm /var/lib/ipu-pod ~/.ansible build; do
    mount -t tmpfs own "$folder"
done
# Containers are its own, images are everybody's.
mkdir /run/images
mount --bind -o ro "$images" /run/images
mount -t tmpfs own "$images"
cat >/run/storage.conf <<END
[storage]
driver = "overlay"
graphroot = "$images"
runroot = "/run/containers/storage"
[storage.options]
additionalimagestores = ["/run/images"]
END
export CONTAINERS_STORAGE_CONF=/run/storage.conf
# This shell stays, as the process that takes in orphans.
python "$@"
