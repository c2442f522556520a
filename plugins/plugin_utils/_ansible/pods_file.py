# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The declaration that the inventory of this run comes from. It is read from its file, and is no host's variable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleActionFail

from .._declaration.declaration import parse_declaration
from .._pod.model import Declaration
from .plain import plain

FILE = "ipu_pod_file"


def declaration_of(variables: Mapping[str, Any], loader: Any) -> Declaration:
    """The checked pods.yml, by the variables of any host; ``loader`` is Ansible's."""
    return parse_declaration(document_of(variables, loader))


def document_of(variables: Mapping[str, Any], loader: Any) -> dict[str, Any]:
    """The pods.yml as it is written."""
    document: dict[str, Any] = plain(loader.load_from_file(file_of(variables), cache="none"))
    return document


def file_of(variables: Mapping[str, Any]) -> str:
    """The path of the pods.yml."""
    pods = variables["groups"].get("ipu_pods")
    if not pods:
        raise AnsibleActionFail("the inventory comes from no pods.yml; say which with -i DIRECTORY")
    return str(variables["hostvars"][pods[0]][FILE])
