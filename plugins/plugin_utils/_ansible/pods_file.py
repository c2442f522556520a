# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The declaration that the inventory of this run comes from. It is read from its file, and is no host's variable."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail

from ...module_utils._plan.converge import Refused
from .._declaration.checking import checked
from .._declaration.reading import Source, read
from .._inventory.hosts import EVERYTHING
from .._pod.devices import devices_of
from .._pod.kinds import DeclarationError, Problem
from .._pod.model import Declaration

FILE = "ipu_pod_file"
# With which a file begins that Ansible has encrypted.
ENCRYPTED = b"$ANSIBLE_VAULT"


def declaration_of(variables: Mapping[str, Any], loader: Any) -> Declaration:
    """The checked pods.yml, by the variables of any host; ``loader`` is Ansible's.

    Raises :class:`Refused` if the inventory has only a part of its devices: a part of a cluster cannot be decided on.
    """
    declaration = checked(source_of(file_of(variables), loader))
    there, declared = set(variables["groups"][EVERYTHING]), devices_of(declaration)
    if missing := [name for name in declared if name not in there]:
        raise Refused(
            f"the inventory has {len(declared) - len(missing)} of the {len(declared)} devices of pods.yml, and lacks "
            f"{missing[0]}; give each run the whole inventory, and say with --limit which clusters it is for"
        )
    return declaration


def document_of(variables: Mapping[str, Any], loader: Any) -> dict[str, Any]:
    """The pods.yml as it is written."""
    document: dict[str, Any] = source_of(file_of(variables), loader).document
    return document


def source_of(path: str, loader: Any) -> Source:
    """A pods.yml as it was read; ``loader`` knows the secret of one that is encrypted.

    Raises :class:`DeclarationError` if it is no text that anybody can mean.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise DeclarationError([Problem("", f"{path} cannot be read: {error.strerror}")]) from None
    if content.startswith(ENCRYPTED):
        content = loader.get_text_file_contents(path).encode()
    return read(content, Path(path).name)


def file_of(variables: Mapping[str, Any]) -> str:
    """The path of the pods.yml."""
    pods = variables["groups"].get("ipu_pods")
    if not pods:
        raise AnsibleActionFail("the inventory comes from no pods.yml; say which with -i DIRECTORY")
    return str(variables["hostvars"][pods[0]][FILE])
