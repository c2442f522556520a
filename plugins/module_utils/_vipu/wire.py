# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The messages of :mod:`.messages` as bytes, and back. Built when first used: no generated code, no compiler.

Works with protobuf from 3.20 on. Without it this module can be imported, but not used.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Mapping

from .messages import ENUMS, MESSAGES, PACKAGE, TIMESTAMP

MISSING = ""
try:
    from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory, timestamp_pb2
except ImportError as error:
    MISSING = str(error)

FILE = f"{PACKAGE}.proto"


def encode(message: str, value: Mapping[str, Any]) -> bytes:
    """A message from plain values by field name; enums by their names."""
    return bytes(json_format.ParseDict(value, _class(message)()).SerializeToString())


def decode(message: str, data: bytes) -> dict[str, Any]:
    """The plain values of a message by field name. Fields that are not set have their zero, nested messages are absent.

    The keys of maps are texts, as in JSON.
    """
    found = _class(message).FromString(data)
    try:
        value = json_format.MessageToDict(
            found, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
        )
    except TypeError:  # protobuf before 5.26 has another name for it
        value = json_format.MessageToDict(found, preserving_proto_field_name=True, including_default_value_fields=True)
    return dict(value)


@lru_cache(maxsize=None)
def _class(message: str) -> Any:
    pool = _pool()
    descriptor = pool.FindMessageTypeByName(f"{PACKAGE}.{message}")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(pool).GetPrototype(descriptor)  # protobuf before 4.22


@lru_cache(maxsize=None)
def _pool() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name=FILE, package=PACKAGE, syntax="proto3")
    file.dependency.append(timestamp_pb2.DESCRIPTOR.name)
    for enum, values in ENUMS.items():
        described = file.enum_type.add(name=enum)
        for name, number in values.items():
            described.value.add(name=name, number=number)
    messages: dict[str, Any] = {}
    # Outer messages stand before those inside them.
    for path, fields in MESSAGES.items():
        outer, _dot, name = path.rpartition(".")
        messages[path] = messages[outer].nested_type.add(name=name) if outer else file.message_type.add(name=name)
        for number, type_, field in fields:
            _add_field(messages[path], path, number, type_, field)
    # A pool of our own: another copy of these messages in the same process does not clash.
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(timestamp_pb2.DESCRIPTOR.serialized_pb)
    pool.AddSerializedFile(file.SerializeToString())
    return pool


def _add_field(message: Any, path: str, number: int, type_: str, name: str) -> None:
    word, _space, rest = type_.partition(" ")
    if word == "map":
        key, _space, value = rest.partition(" ")
        entry = f"{name.title().replace('_', '')}Entry"
        nested = message.nested_type.add(name=entry)
        nested.options.map_entry = True
        _add_field(nested, f"{path}.{entry}", 1, key, "key")
        _add_field(nested, f"{path}.{entry}", 2, value, "value")
        rest = f"{path}.{entry}"
    field = message.field.add(name=name, number=number)
    field.label = field.LABEL_REPEATED if word in ("map", "repeated") else field.LABEL_OPTIONAL
    one = rest or word
    scalars = {"bool": field.TYPE_BOOL, "string": field.TYPE_STRING, "uint32": field.TYPE_UINT32}
    if one in scalars:
        field.type = scalars[one]
    else:
        field.type = field.TYPE_ENUM if one in ENUMS else field.TYPE_MESSAGE
        field.type_name = f".{one}" if one == TIMESTAMP else f".{PACKAGE}.{one}"
