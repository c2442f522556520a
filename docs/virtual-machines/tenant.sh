#!/usr/bin/env bash
# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the tenant of a vPOD in a cloud does, from the first machine to the last, with OpenStack's own client:
#   OS_CLOUD=ENTRY bash tenant.sh VPOD IPUS USER_DATA KEY
# ENTRY is the tenant's in their clouds.yaml, USER_DATA the file that playbooks/user_data.yml wrote, and KEY a private key
# for SSH with its public one beside it. Other names in the cloud: IMAGE (poplar), LOGIN (debian), NETWORK (control).
set -euo pipefail

if (($# != 4)); then
    sed -n '5,8s/^# //p' "$0" >&2
    exit 2
fi
vpod=$1 ipus=$2 user_data=$3 key=$4
image=${IMAGE:-poplar} login=${LOGIN:-debian} network=${NETWORK:-control}
# Seconds, for a machine that is emulated.
patience=600

step() {
    printf '\n==> %s\n' "$*"
}

run() {
    printf '$ %s\n' "$*" >&2
    "$@"
}

fail() {
    echo "tenant.sh: $*" >&2
    exit 1
}

wait_until() {
    local end=$((SECONDS + patience))
    until "$@"; do
        ((SECONDS < end)) || return 1
        sleep 2
    done
}

is_available() {
    [[ $(openstack volume show "$1" --format value --column status) == available ]]
}

# A command on a machine, by its name.
reach() {
    local address
    address=$(openstack port show "$1" --format json --column fixed_ips |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["fixed_ips"][0]["ip_address"])')
    # Every machine is new, and so is its key.
    ssh -i "$key" -o UserKnownHostsFile=/dev/null -o StrictHostKeyChecking=no -o LogLevel=ERROR -o ConnectTimeout=5 \
        "$login@$address" "$2"
}

on() {
    printf '%s$ %s\n' "$1" "$2"
    reach "$1" "$2"
}

make_machine() {
    # The security group is for the control network; the RNIC network has no port security.
    run openstack port create --network "$network" --security-group "vpod-$vpod" "$1" >/dev/null
    run openstack server create --image "$image" --flavor "vpod-$vpod-$ipus" --port "$1" \
        --network "vpod-$vpod-rnic" --key-name "$vpod" --user-data "$user_data" --config-drive True \
        --wait "$1" --format value --column status
    run openstack server add volume "$1" data >/dev/null
    echo "(until its owner can log in)"
    wait_until reach "$1" 'sudo cloud-init status --wait' 2>/dev/null ||
        fail "machine $1 lets nobody in after $patience s; read: openstack console log show $1"
}

delete_machine() {
    run openstack server delete --wait "$1"
    run openstack port delete "$1"
}

for file in "$user_data" "$key" "$key.pub"; do
    [[ -r $file ]] || fail "$file cannot be read; give the file of user data, and a private key beside its public one"
done

step "1. Ask for a machine, 2. with a volume"
run openstack keypair create --public-key "$key.pub" "$vpod" >/dev/null
run openstack volume create --size 1 data --format value --column status
wait_until is_available data || fail "volume data is not available after $patience s; read: openstack volume show data"
make_machine first
on first 'sudo mkfs.ext4 -q /dev/vdb && sudo mount /dev/vdb /mnt && echo "kept from the first machine" | sudo tee /mnt/note'

step "3. Have a shell in it"
on first 'hostname; ip -brief address'

step "4. Create a partition"
on first "vipu create partition $vpod-first --size $ipus && vipu list partitions"

step "5. Run a workload"
on first ipu-workload

step "6. Delete the machine; its volume goes to the next one"
on first "vipu remove partition $vpod-first && sudo umount /mnt"
delete_machine first
make_machine next
on next 'sudo mount /dev/vdb /mnt && cat /mnt/note'

step "Delete everything"
delete_machine next
run openstack volume delete data
run openstack keypair delete "$vpod"
