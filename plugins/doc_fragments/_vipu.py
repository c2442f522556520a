# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The connection options of the V-IPU modules. Private to the collection."""

from __future__ import annotations


class ModuleDocFragment:
    """The connection options of :mod:`_vipu.connection`."""

    DOCUMENTATION = r"""
options:
  api_host:
    description: Host name or address of the V-IPU controller, as seen from the host that the module runs on.
    type: str
    default: localhost
  api_user_id:
    description:
      - Who asks, where the controller is in secure mode. Without it the program's own configuration says so, usually
        C(/etc/vipu/vipu-cli.hcl).
    type: str
  api_access_key: {description: The access key of O(api_user_id)., type: str}
  tls_certs:
    description:
      - Directory with the client's TLS certificates, on the host that the module runs on, where the controller is in
        secure mode. Its files are C(ca.crt), C(tls.crt) and C(tls.key).
    type: path
  config:
    description:
      - Configuration file of the V-IPU program, on the host that the module runs on.
      - Where O(api_user_id) is not set either, C(vipu-admin) is given C(/etc/vipu/vipu-admin.hcl) if it is there. The
        role P(ipu.pod.vipu_controller#role) writes it on the host of a secure controller.
    type: path
requirements:
  - C(vipu-admin) of the installed V-IPU release, on the host that the module runs on (usually the controller's)
"""

    # For modules that only know the admin end-point.
    ADMIN = r"""
options:
  api_port: {description: TCP port of the controller's admin end-point., type: int, default: 8091}
  program: {description: Name or path of the V-IPU admin program on that host., type: str, default: vipu-admin}
"""
