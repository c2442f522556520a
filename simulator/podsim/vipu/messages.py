# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The messages of the published user API, built at run time: no compiler, no generated code."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory, timestamp_pb2

from podsim.vipu.rpc import Codec, Interface
from podsim.vipu.user_api_tables import ENUMS, MESSAGES, PACKAGE, SERVICES, UNUSUAL_MESSAGES

_MAP = re.compile(r"map<(\w+), ([\w.]+)>")
_FIELD = descriptor_pb2.FieldDescriptorProto
_SCALARS = {"string": _FIELD.TYPE_STRING, "uint32": _FIELD.TYPE_UINT32, "bool": _FIELD.TYPE_BOOL}


@cache
def interface(service: str) -> Interface:
    """The published service of that name, e.g. `UserService`."""
    methods = {}
    for rpc in SERVICES[service]:
        request, reply = UNUSUAL_MESSAGES.get(rpc, (f"{rpc}Request", f"{rpc}Reply"))
        methods[rpc] = (_codec(request), _codec(reply))
    return Interface(f"{PACKAGE}.{service}", methods)


def _codec(message: str) -> Codec:
    make = _message_class(message)

    def encode(value: dict[str, Any]) -> bytes:
        encoded: bytes = json_format.ParseDict(value, make()).SerializeToString()
        return encoded

    def decode(data: bytes) -> dict[str, Any]:
        return _in_order(message, _to_dict(make.FromString(data)))

    return Codec(encode, decode)


def _to_dict(message: Any) -> dict[str, Any]:
    """The message with proto field names, unpopulated scalars and lists included."""
    value: dict[str, Any]
    try:
        value = json_format.MessageToDict(
            message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
        )
    except TypeError:  # protobuf before 26 calls it by another name
        value = json_format.MessageToDict(
            message, preserving_proto_field_name=True, including_default_value_fields=True
        )
    return value


def _in_order(message: str, value: dict[str, Any]) -> dict[str, Any]:
    """The same with fields in the order of their table and maps by key; protobuf has an order of its own."""
    fields = {field: type_ for field, (_, type_) in MESSAGES[message].items() if field in value}
    return {field: _value_in_order(type_, value[field]) for field, type_ in fields.items()}


def _value_in_order(type_: str, value: Any) -> Any:
    map_types = _MAP.fullmatch(type_)
    if map_types:
        return {key: _value_in_order(map_types[2], value[key]) for key in sorted(value)}
    if type_.startswith("repeated "):
        return [_value_in_order(type_.removeprefix("repeated "), item) for item in value]
    return _in_order(type_, value) if type_ in MESSAGES else value


def _message_class(name: str) -> Any:
    descriptor = _pool().FindMessageTypeByName(f"{PACKAGE}.{name}")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(_pool()).GetPrototype(descriptor)  # protobuf before 4.22


@cache
def _pool() -> Any:
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(timestamp_pb2.DESCRIPTOR.serialized_pb)
    pool.AddSerializedFile(_file().SerializeToString())
    return pool


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name=f"{PACKAGE}.proto", package=PACKAGE, syntax="proto3")
    file.dependency.append("google/protobuf/timestamp.proto")
    for name, values in ENUMS.items():
        enum = file.enum_type.add(name=name)
        for label, number in values.items():
            enum.value.add(name=label, number=number)
    made: dict[str, descriptor_pb2.DescriptorProto] = {}
    for name, fields in MESSAGES.items():
        outer, _, own = name.rpartition(".")
        made[name] = made[outer].nested_type.add(name=own) if outer else file.message_type.add(name=own)
        for field, (number, type_) in fields.items():
            _add_field(made[name], name, field, number, type_)
    return file


def _add_field(message: descriptor_pb2.DescriptorProto, path: str, name: str, number: int, type_: str) -> None:
    map_types = _MAP.fullmatch(type_)
    if map_types:
        entry = "".join(part.capitalize() for part in name.split("_")) + "Entry"
        nested = message.nested_type.add(name=entry)
        nested.options.map_entry = True
        _add_field(nested, f"{path}.{entry}", "key", 1, map_types[1])
        _add_field(nested, f"{path}.{entry}", "value", 2, map_types[2])
        type_ = f"repeated {path}.{entry}"
    repeated = type_.startswith("repeated ")
    type_ = type_.removeprefix("repeated ")
    label = _FIELD.LABEL_REPEATED if repeated else _FIELD.LABEL_OPTIONAL
    field = message.field.add(name=name, number=number, label=label)
    if type_ in _SCALARS:
        field.type = _SCALARS[type_]
        return
    field.type = _FIELD.TYPE_ENUM if type_ in ENUMS else _FIELD.TYPE_MESSAGE
    field.type_name = f".{type_}" if type_.startswith("google.") else f".{PACKAGE}.{type_}"
