# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host's distribution has the names that Ansible's facts give it."""

from __future__ import annotations

import pytest
from ansible.module_utils.facts.system.distribution import Distribution

from ansible_collections.ipu.pod.plugins.module_utils._look.things import distribution_from


@pytest.mark.parametrize(
    ("text", "name", "version"),
    [
        ('PRETTY_NAME="Debian GNU/Linux 12"\nVERSION_ID="12"\nID=debian\n', "Debian", "12"),
        ('NAME="Ubuntu"\nVERSION_ID="22.04"\nID=ubuntu\nID_LIKE=debian\n', "Ubuntu", "22.04"),
        ('ID="rhel"\nID_LIKE="fedora"\n', "RedHat", ""),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', "Rocky", ""),
        ('ID="almalinux"\nID_LIKE="rhel centos fedora"\n', "AlmaLinux", ""),
        ('ID="centos"\nID_LIKE="rhel fedora"\n', "CentOS", ""),
        ('ID="ol"\nID_LIKE="fedora"\n', "OracleLinux", ""),
        ("ID=fedora\n", "Fedora", ""),
    ],
)
def test_names_are_those_of_the_facts(text: str, name: str, version: str) -> None:
    family = Distribution.OS_FAMILY[name]
    assert distribution_from(text) == {"distribution": name, "distribution_version": version, "os_family": family}


def test_what_is_not_known_is_its_own_family() -> None:
    assert distribution_from("ID=void\n") == {"distribution": "Void", "distribution_version": "", "os_family": "Void"}
    assert distribution_from("") == {"distribution": "Linux", "distribution_version": "", "os_family": "Linux"}
