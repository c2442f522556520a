# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""ethtool, pause frames (-a, -A) and rings (-g, -G) only. Whatever else is asked goes to the real program."""

from __future__ import annotations

from podsim.nic.hardware import RING_MAXIMUM, Nics, Port, Refusal
from podsim.nic.reply import Reply, on_stderr

BAD = "ethtool: bad command line argument(s)\nFor more information run ethtool -h"


def run(nics: Nics, arguments: list[str]) -> Reply | None:
    """Run the tool; None where the real program has to answer."""
    flag, device, *words = [*arguments, "", ""]
    port = nics.ports.get(device)
    if flag not in {"-a", "-A", "-g", "-G"} or port is None:
        return None
    pairs = _pairs([word for word in words if word])
    if bool(pairs) != flag.isupper():
        raise on_stderr(BAD)
    if flag == "-A":
        _set_pause(port, pairs)
    elif flag == "-G":
        _set_rings(port, pairs)
    else:
        return Reply(output=_pause(device, port) if flag == "-a" else _rings(device, port))
    return Reply()


def _pairs(words: list[str]) -> dict[str, str]:
    pairs = dict(zip(words[::2], words[1::2], strict=False))
    if len(pairs) * 2 != len(words) or not pairs.keys() <= {"rx", "tx"}:
        raise on_stderr(BAD)
    return pairs


def _set_pause(port: Port, pairs: dict[str, str]) -> None:
    if not set(pairs.values()) <= {"on", "off"}:
        raise on_stderr(BAD)
    port.pause.update({way: state == "on" for way, state in pairs.items()})


def _set_rings(port: Port, pairs: dict[str, str]) -> None:
    try:
        port.set_rings({way: int(size) for way, size in pairs.items()})
    except ValueError:
        raise on_stderr(BAD) from None
    except Refusal as refusal:
        raise on_stderr(f"netlink error: {refusal}") from None


def _pause(device: str, port: Port) -> str:
    states = {way: "on" if on else "off" for way, on in port.pause.items()}
    return f"Pause parameters for {device}:\nAutonegotiate:\toff\nRX:\t\t{states['rx']}\nTX:\t\t{states['tx']}\n\n"


def _rings(device: str, port: Port) -> str:
    def table(rx: int, tx: int) -> str:
        return f"RX:\t\t\t{rx}\nRX Mini:\t\tn/a\nRX Jumbo:\t\tn/a\nTX:\t\t\t{tx}\n"

    return (
        f"Ring parameters for {device}:\nPre-set maximums:\n{table(RING_MAXIMUM, RING_MAXIMUM)}"
        f"Current hardware settings:\n{table(port.rings['rx'], port.rings['tx'])}\n"
    )
