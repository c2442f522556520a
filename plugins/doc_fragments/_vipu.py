# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the V-IPU modules reach their controller, said once. Private to the collection."""

from __future__ import annotations


class ModuleDocFragment:
    """The connection options of :mod:`_vipu.connection`."""

    DOCUMENTATION = r"""
options:
  api_host:
    description: Host name or address of the V-IPU controller, as seen from the host that the module runs on.
    type: str
    default: localhost
  api_port:
    description: TCP port of the controller's admin end-point.
    type: int
    default: 8091
  program:
    description: Name or path of the V-IPU admin program on the host that the module runs on.
    type: str
    default: vipu-admin
requirements:
  - C(vipu-admin) of the installed V-IPU release, on the host that the module runs on (usually the controller's)
"""
