# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The additions to the configurations of chrony and rsyslog: their text, and the refusals."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.plugin_utils._pod_services.configurations import (
    chrony_configuration,
    rsyslog_configuration,
)

TIME = {"networks": ["10.1.0.0/16", "10.2.0.0/16"], "upstream": ["ntp.example.com", "10.3.0.1"], "local_stratum": 10}
SYSLOG = {"address": "10.3.1.101"}


def test_time_as_a_person_finds_it() -> None:
    assert chrony_configuration(TIME).splitlines()[1:] == [
        "server ntp.example.com iburst",
        "server 10.3.0.1 iburst",
        "allow 10.1.0.0/16",
        "allow 10.2.0.0/16",
        "local stratum 10",
    ]


def test_the_servers_own_clock_is_served_only_where_declared() -> None:
    # As the role's options arrive: what is not declared is none.
    declared = {"networks": ["10.1.0.0/16"], "upstream": [], "local_stratum": None}
    assert chrony_configuration(declared).splitlines()[1:] == ["allow 10.1.0.0/16"]


def test_each_sender_has_a_file_in_the_declared_directory() -> None:
    lines = rsyslog_configuration({**SYSLOG, "port": 1514, "directory": "/srv/logs"}).splitlines()
    assert 'template(name="ipu-pod" type="string" string="/srv/logs/%fromhost-ip%.log")' in lines
    assert lines[-1] == 'input(type="imudp" address="10.3.1.101" port="1514" ruleset="ipu-pod")'


def test_syslog_is_taken_at_its_usual_port_and_place() -> None:
    text = rsyslog_configuration(SYSLOG)
    assert '"/var/log/ipu-pod/%fromhost-ip%.log"' in text
    assert 'port="514"' in text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"networks": []}, "pod_services_time.networks is empty; name the networks that may ask"),
        ({"networks": ["all"]}, "pod_services_time.networks: 'all' is no IPv4 network; write it like 10.5.0.0/16"),
        ({"upstream": ["a b"]}, "pod_services_time.upstream: 'a b' is no host name or IPv4 address"),
        ({"upstream": ["ntp\nallow"]}, "pod_services_time.upstream: 'ntp\\nallow' is no host name"),
        ({"local_stratum": 0}, "pod_services_time.local_stratum is 0, but a server's stratum is from 1 to 15"),
        ({"local_stratum": 16}, "pod_services_time.local_stratum is 16, but"),
    ],
)
def test_time_is_refused_with_one_sentence(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused) as refused:
        chrony_configuration({**TIME, **changes})
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"address": None}, "pod_services_syslog.address: 'None' is no IPv4 address; write it like 10.3.1.101"),
        ({"port": 0}, "pod_services_syslog.port is 0, but a UDP port is from 1 to 65535; 514 is usual"),
        ({"port": 65536}, "pod_services_syslog.port is 65536, but a UDP port is from 1 to 65535; 514 is usual"),
        ({"directory": "logs"}, "pod_services_syslog.directory 'logs' is no path of plain characters"),
        ({"directory": '/var/"x'}, "pod_services_syslog.directory '/var/\"x' is no path of plain characters"),
    ],
)
def test_syslog_is_refused_with_one_sentence(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused) as refused:
        rsyslog_configuration({**SYSLOG, **changes})
    assert str(refused.value).startswith(message)
