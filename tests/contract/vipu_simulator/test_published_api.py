# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A client that knows only the published field numbers can use the user port.

It has the protobuf wire format by hand, so that it shares nothing with the simulator.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import grpc
import pytest

if TYPE_CHECKING:
    from conftest import Controller

PENDING, ACTIVE = 1, 2


@pytest.fixture
def call(controller: Controller) -> Iterator[Any]:
    """Calls a published rpc with {number: value} and gives {number: [values]}."""
    controller.create_cluster(4)
    assert controller.admin("create", "allocation", "a", "--size", "16").code == 0
    channel = grpc.insecure_channel(f"127.0.0.1:{controller.user_port}", options=[("grpc.enable_http_proxy", 0)])

    def call(method: str, fields: dict[int, Any], service: str = "UserService") -> Any:
        stub = channel.unary_unary(f"/virmgrpc.{service}/{method}", encode, decode)
        return stub(fields, timeout=5)

    yield call
    channel.close()


def wait_active(call: Any, name: str) -> None:
    while True:
        status = decode(call("GetPartitionStatus", {1: name})[1][0])
        if status[2] != [PENDING]:
            assert status[2] == [ACTIVE]
            return
        time.sleep(0.01)


def test_version(call: Any) -> None:
    assert call("GetVersion", {}, "VersionService") == {1: [b"1.18.0"]}


def test_partition_comes_up_and_goes(call: Any) -> None:
    requirements = encode({1: "p", 2: 8, 8: 2, 10: 2, 11: "a"})
    assert call("CreatePartition", {2: requirements}) == {1: [b"p"]}
    wait_active(call, "p")
    partition = decode(call("ListPartitions", {1: "a"})[1][0])
    spec = decode(partition[2][0])
    assert (partition[1], partition[3], partition[4]) == ([b"p"], [ACTIVE], [b"v1.3.3"])
    assert (spec[1], spec[10], len(spec[2]), spec[5], spec[9]) == ([b"c1"], [b"a"], 8, [2], [2])
    call("ResetPartition", {1: "p"})
    wait_active(call, "p")
    assert call("RemovePartition", {1: "p"}) == {}
    assert call("ListPartitions", {}) == {}


def test_ipuof_configuration(call: Any) -> None:
    call("CreatePartition", {2: encode({1: "p", 2: 8, 8: 2})})
    wait_active(call, "p")
    both = decode(call("GetPartitionIpuofConfig", {1: "p"})[1][0])
    assert len(both[8]) == 2
    second = decode(call("GetPartitionIpuofConfig", {1: "p", 2: encode({1: 1})})[1][0])
    gcd = decode(second[8][0])
    devices = [decode(device) for device in gcd[2]]
    assert [device[1] for device in devices] == [[b"10.5.1.2"]] * 4
    assert [device.get(4, [0])[0] for device in devices] == [3, 2, 1, 0]
    attributes = {pair[1][0]: pair[2][0] for pair in map(decode, gcd[3])}
    assert attributes[b"GCD Id"] == b"1"
    assert attributes[b"ipuLinkDomainSize"] == b"8"


def test_picked_ipus(call: Any) -> None:
    picked = [encode({1: 0, 3: number}) for number in (4, 5)]
    call("CreatePartition", {2: encode({1: "p", 2: 2, 3: "c1", 11: "a", 12: picked})})
    partition = decode(call("ListPartitions", {})[1][0])
    ipus = [decode(ipu) for ipu in decode(partition[2][0])[2]]
    assert [ipu[3] for ipu in ipus] == [[4], [5]]


def test_ipu_attributes(call: Any) -> None:
    (entry,) = call("ListIPUAttributes", {1: ["ag2"]})[1]
    assert decode(entry)[1] == [b"ag2"]
    assert len(decode(entry)[2]) == 4


def test_refusals_have_status_codes(call: Any) -> None:
    cases = [
        ("GetPartitionStatus", {1: "p"}, grpc.StatusCode.NOT_FOUND, "partition 'p' is unknown"),
        ("ListPartitions", {1: "b"}, grpc.StatusCode.NOT_FOUND, "allocation 'b' is unknown"),
        ("CreatePartition", {}, grpc.StatusCode.INVALID_ARGUMENT, "partition id '' is not valid"),
    ]
    for method, fields, code, text in cases:
        with pytest.raises(grpc.RpcError) as refusal:
            call(method, fields)
        assert refusal.value.code() == code
        assert text in refusal.value.details()


def encode(fields: dict[int, Any]) -> bytes:
    """A message from numbers and values: int or bool, str, bytes (a message) or a list of these."""
    return b"".join(_field(number, item) for number, value in fields.items() for item in _items(value))


def decode(data: bytes) -> dict[int, list[Any]]:
    """All values of each number: ints, and bytes for whatever has a length."""
    fields: dict[int, list[Any]] = {}
    place = 0
    while place < len(data):
        key, place = _read_varint(data, place)
        value: Any
        value, place = _read_varint(data, place)
        if key & 7 == 2:
            value, place = data[place : place + value], place + value
        fields.setdefault(key >> 3, []).append(value)
    return fields


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _field(number: int, value: Any) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _read_varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
