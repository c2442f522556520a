# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The V-IPU administrator's configuration, for the hooks on another host. Pure."""

from __future__ import annotations

import re

_CERTIFICATES = re.compile(r"^tls-certs\s*=.*$", re.MULTILINE)


def administrator(config: str, certificates: str) -> str:
    """The text of a vipu-admin.hcl with the directory where its certificates are on that host."""
    return _CERTIFICATES.sub(f'tls-certs="{certificates}"', config)
