# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The declaration that the inventory of this run comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._declaration.declaration import parse_declaration
from ._plain import plain
from ._pod.model import Declaration


def declaration_of(variables: Mapping[str, Any]) -> Declaration:
    """The checked pods.yml, by the variables of any host."""
    return parse_declaration(document_of(variables))


def document_of(variables: Mapping[str, Any]) -> dict[str, Any]:
    """The pods.yml as it is written."""
    pods = variables["groups"]["ipu_pods"]
    document: dict[str, Any] = plain(variables["hostvars"][pods[0]]["ipu_pod_declaration"])
    return document
