#!/bin/sh
# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Usage: ping_matrix.sh INTERFACE NAME=ADDRESS...
# Each address has to answer a ping that fills the interface's MTU without being fragmented, and must not take one byte
# more. Prints a line for each that does not, and ends with 1 then.

interface=$1
shift
mtu=$(cat "/sys/class/net/$interface/mtu") || exit 2
headers=28

ping_of() { # ping_of BYTES ADDRESS
    ping -q -c 1 -W 2 -M "do" -s $(($1 - headers)) -I "$interface" "$2" >/dev/null 2>&1
}

takes_no_more() { # takes_no_more NAME ADDRESS
    if ping_of $((mtu + 1)) "$2"; then
        echo "$1 ($2): answers to $((mtu + 1)) bytes, one more than the MTU of $interface"
        return 1
    fi
}

failed=0
for peer in "$@"; do
    if ! ping_of "$mtu" "${peer#*=}"; then
        echo "${peer%%=*} (${peer#*=}): no answer to $mtu bytes through $interface"
        failed=1
    fi
done

# These wait in vain when all is well, so they wait side by side.
jobs=
for peer in "$@"; do
    takes_no_more "${peer%%=*}" "${peer#*=}" &
    jobs="$jobs $!"
done
for job in $jobs; do
    wait "$job" || failed=1
done
exit $failed
