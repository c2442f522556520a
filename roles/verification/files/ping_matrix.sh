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
    ping -q -c 1 -W 2 -M do -s $(($1 - headers)) -I "$interface" "$2" >/dev/null 2>&1
}

check() { # check NAME ADDRESS
    if ! ping_of "$mtu" "$2"; then
        echo "$1 ($2): no answer to $mtu bytes through $interface"
        return 1
    fi
    if ping_of $((mtu + 1)) "$2"; then
        echo "$1 ($2): answers to $((mtu + 1)) bytes, one more than the MTU of $interface"
        return 1
    fi
}

silent=0
for peer in "$@"; do
    check "${peer%%=*}" "${peer#*=}" || silent=1
done
exit $silent
