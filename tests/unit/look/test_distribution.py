# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host's distribution has the names that Ansible's facts give it."""

from __future__ import annotations

import pytest
from ansible.module_utils.facts.system.distribution import Distribution

from ansible_collections.ipu.pod.plugins.module_utils._look.things import distribution_from


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('PRETTY_NAME="Debian GNU/Linux 12"\nID=debian\n', "Debian"),
        ('NAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\n', "Ubuntu"),
        ('ID="rhel"\nID_LIKE="fedora"\n', "RedHat"),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', "Rocky"),
        ('ID="almalinux"\nID_LIKE="rhel centos fedora"\n', "AlmaLinux"),
        ('ID="centos"\nID_LIKE="rhel fedora"\n', "CentOS"),
        ('ID="ol"\nID_LIKE="fedora"\n', "OracleLinux"),
        ("ID=fedora\n", "Fedora"),
    ],
)
def test_names_are_those_of_the_facts(text: str, name: str) -> None:
    assert distribution_from(text) == {"distribution": name, "os_family": Distribution.OS_FAMILY[name]}


def test_what_is_not_known_is_its_own_family() -> None:
    assert distribution_from("ID=void\n") == {"distribution": "Void", "os_family": "Void"}
    assert distribution_from("") == {"distribution": "Linux", "os_family": "Linux"}
