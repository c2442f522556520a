# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Send ARP probes, so that the switch learns the MAC addresses of idle hosts: arp_probe.py INTERFACE ADDRESS...

An ARP probe comes from the address 0.0.0.0: it needs no address of its own and changes no ARP table. It is repeated
once a second until the host answers, five times at most; silence is no error. Needs root.
"""

from __future__ import annotations

import select
import socket
import sys
import time
from pathlib import Path

ETHERTYPE_ARP = 0x0806
BROADCAST = b"\xff" * 6
ETHERNET_AND_IPV4 = bytes.fromhex("000108000604")
REQUEST, REPLY = b"\x00\x01", b"\x00\x02"
ROUNDS = 5
SECONDS_PER_ROUND = 1.0


def probe(mac: bytes, address: str) -> bytes:
    """Return the broadcast frame that asks for the owner of an address."""
    asked = ETHERNET_AND_IPV4 + REQUEST + mac + bytes(4) + bytes(6) + socket.inet_aton(address)
    return BROADCAST + mac + ETHERTYPE_ARP.to_bytes(2, "big") + asked


def answered_by(frame: bytes) -> str:
    """Return the address whose owner sent this frame; empty if it is no answer."""
    arp = frame[14:42]
    if len(arp) < 28 or arp[:6] != ETHERNET_AND_IPV4 or arp[6:8] != REPLY:
        return ""
    return socket.inet_ntoa(arp[14:18])


def silent(interface: str, addresses: list[str]) -> list[str]:
    """Send probes and return the addresses that did not answer.

    Raises:
        OSError: the interface is not there or down, or this process may not send frames.
    """
    missing = dict.fromkeys(addresses)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE_ARP)) as link:
        link.bind((interface, ETHERTYPE_ARP))
        mac = link.getsockname()[4]
        for _round in range(ROUNDS):
            for address in missing:
                link.send(probe(mac, address))
            deadline = time.monotonic() + SECONDS_PER_ROUND
            while missing and select.select([link], [], [], max(0, deadline - time.monotonic()))[0]:
                missing.pop(answered_by(link.recv(2048)), None)
    return list(missing)


def main(interface: str, *addresses: str) -> int:
    """Print the silent addresses; return 1 if no probe could be sent."""
    try:
        if Path(f"/sys/class/net/{interface}/operstate").read_text(encoding="ascii").strip() == "down":
            raise OSError("its link is down")
        missing = silent(interface, list(addresses))
    except OSError as error:
        print(f"{interface}: {error}", file=sys.stderr)
        return 1
    print(f"silent: {', '.join(missing) or 'nobody'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
