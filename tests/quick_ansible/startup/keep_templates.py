# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps what Jinja compiles, so that the next task and the next playbook need not compile it again.

What filters make of constants, the collection's filters too, is part of it: a folder is for one run of the tests.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import sys
from types import CodeType
from typing import Any

from jinja2 import Environment, nodes

compiled = Environment.compile


def identity(environment: Environment, tree: nodes.Template, *arguments: Any) -> str:
    """A name for everything that the code of a template depends on."""
    settings = {key: value for key, value in vars(environment).items() if isinstance(value, (str, bool))}
    lines = [node.lineno for node in tree.find_all(nodes.Node)]
    everything = repr((sys.prefix, type(environment), settings, tree.dump(), lines, arguments))
    return hashlib.blake2b(everything.encode("utf-8", "surrogatepass")).hexdigest()


def keep_in(folder: str) -> None:
    """From now on, keep what is compiled there."""

    def kept(
        environment: Environment,
        source: str | nodes.Template,
        name: str | None = None,
        filename: str | None = None,
        raw: bool = False,
        defer_init: bool = False,
    ) -> Any:
        tree = environment.parse(source, name, filename) if isinstance(source, str) else source
        path = os.path.join(folder, identity(environment, tree, name, filename, raw, defer_init))
        try:
            with open(path, "rb") as file:
                return marshal.load(file)
        except FileNotFoundError:
            code: CodeType | str = compiled(environment, tree, name, filename, raw, defer_init)
        with open(f"{path}.{os.getpid()}", "wb") as file:
            marshal.dump(code, file)
        os.rename(f"{path}.{os.getpid()}", path)
        return code

    patched: Any = Environment
    patched.compile = kept
