# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Linux distribution of a host, as Ansible's facts name it, without loading Ansible's fact modules. Pure."""

from __future__ import annotations

import re

# By ID in /etc/os-release; facts have the others in the spelling there, with a capital letter.
_NAMES = {"almalinux": "AlmaLinux", "centos": "CentOS", "ol": "OracleLinux", "rhel": "RedHat"}
# By ID or, for a distribution that is like another one, by ID_LIKE.
_FAMILIES = {"debian": "Debian", "ubuntu": "Debian", "rhel": "RedHat", "fedora": "RedHat", "suse": "Suse"}
_LINE = re.compile(r"""^(ID|ID_LIKE)=["']?([^"'\n]*)""", re.MULTILINE)


def distribution_from(os_release: str) -> dict[str, str]:
    """``distribution`` and ``os_family``, by the text of /etc/os-release; a family that is not known is the name."""
    values = dict(_LINE.findall(os_release))
    own = values.get("ID", "linux")
    name = _NAMES.get(own, own.capitalize())
    families = (_FAMILIES[each] for each in (own, *values.get("ID_LIKE", "").split()) if each in _FAMILIES)
    return {"distribution": name, "os_family": next(families, name)}
