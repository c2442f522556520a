# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts from the templates beside this file. What others wrote is only ever a value in them."""

from __future__ import annotations

from os.path import dirname
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

_TEMPLATES = Environment(
    loader=FileSystemLoader(dirname(__file__)),
    undefined=StrictUndefined,
    autoescape=select_autoescape(("html.j2", "svg.j2"), default=False),
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


def render(template: str, **values: Any) -> str:
    """The text of a template with these values; in pages and pictures they are escaped."""
    return _TEMPLATES.get_template(f"{template}.j2").render(values)
