# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The V-IPU administrator's configuration for the role slurm."""

from __future__ import annotations

import re
from typing import Any

_CERTIFICATES = re.compile(r"^tls-certs\s*=.*$", re.MULTILINE)


def administrator(config: str, certificates: str) -> str:
    """The text of a vipu-admin.hcl with the directory where its certificates are on the host of Slurm's hooks."""
    return _CERTIFICATES.sub(f'tls-certs="{certificates}"', config)


class FilterModule:
    """Filters of the collection."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {"slurm_administrator": administrator}
