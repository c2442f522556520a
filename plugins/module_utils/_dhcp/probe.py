# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask on one interface who serves DHCP. Sends DISCOVER messages and takes no offer, so nothing is leased."""

from __future__ import annotations

import os
import socket
import time
from typing import Sequence

from .._plan.converge import DeviceError, Refused
from .messages import Offer, discover_frame, offer_in

_ALL_PROTOCOLS = 0x0003
_FRAME = 65535


def probe(interface: str, macs: Sequence[str], seconds: float) -> list[Offer]:
    """The offers that came within so many seconds, each once.

    Args:
        interface: the network device to ask on. Whoever answers on this host itself is not seen.
        macs: MACs to ask for besides the interface's own; a server that knows its clients answers no other.
        seconds: how long to listen.

    Raises:
        Refused: there is no such interface, or it is down.
        DeviceError: the interface cannot be listened to.
    """
    own = _own_mac(interface)
    transaction = int.from_bytes(os.urandom(2), "big") << 16
    asked = {transaction + number: mac for number, mac in enumerate([own, *macs])}
    try:
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL_PROTOCOLS)) as raw:
            raw.bind((interface, 0))
            for number, mac in asked.items():
                raw.send(discover_frame(own, mac, number))
            offers = _offers(raw, seconds)
    except OSError as error:
        raise DeviceError(f"DHCP could not be probed on {interface}: {error.strerror}") from error
    answers = {offer for offer in offers if asked.get(offer.transaction) == offer.mac}
    return sorted(answers, key=lambda offer: (offer.server, offer.mac))


def _offers(raw: socket.socket, seconds: float) -> list[Offer]:
    deadline = time.monotonic() + seconds
    offers = []
    while deadline > time.monotonic():
        raw.settimeout(max(deadline - time.monotonic(), 0.001))
        try:
            offer = offer_in(raw.recv(_FRAME))
        except socket.timeout:
            break
        if offer:
            offers.append(offer)
    return offers


def _own_mac(interface: str) -> str:
    folder = f"/sys/class/net/{interface}"
    if "/" in interface or not os.path.isdir(folder):
        raise Refused(f"interface {interface}: there is none of this name; name the one that DHCP shall be served on")
    with open(f"{folder}/flags", encoding="ascii") as stream:
        up = int(stream.read(), 16) & 1
    if not up:
        raise Refused(f"interface {interface} is down; bring it up before DHCP is served on it")
    with open(f"{folder}/address", encoding="ascii") as stream:
        return stream.read().strip()
