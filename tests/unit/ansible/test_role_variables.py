# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of roles for one host, as its look keeps them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible.errors import AnsibleError
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, is_trusted_as_template, trust_as_template

from ansible_collections.ipu.pod.plugins.action.look import HOST_ROLES, SWITCH_ROLES
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.role_variables import settings_of


def settings(*roles: str, **variables: Any) -> dict[str, Any]:
    loader = DataLoader()
    return settings_of(roles, loader, Templar(loader, variables=variables), variables)


def test_without_variables_they_are_the_defaults_of_the_roles() -> None:
    found = settings("poplar_server", "vpod")
    assert found["poplar_server_network_backend"] == "auto"
    assert found["poplar_server_packages"] is None
    assert found["vpod_file_mode"] == "0644"
    assert {name.partition("_")[0] for name in found} == {"poplar", "vpod"}


def test_defaults_that_are_templates_are_filled_in_from_variables_and_from_other_defaults() -> None:
    assert settings("vipu_controller")["vipu_controller_program"] == "/usr/local/bin/vipu-server"
    release = {"vipu_controller_archive": "/a.tar.gz", "vipu_controller_release": "1.18.0"}
    found = settings("vipu_controller", **release, vipu_controller_directory="/srv/vipu")
    assert found["vipu_controller_program"] == "/opt/gc/vipu-1.18.0/vipu-server"
    assert found["vipu_controller_storage"] == "/srv/vipu/vipu-server.json"


def test_what_the_owner_has_set_goes_before_and_may_be_a_template() -> None:
    found = settings(
        "poplar_server",
        poplar_server_memlock=trust_as_template("{{ limit }}"),
        limit=trust_as_template("{{ 64 * 1024 }}"),
        poplar_server_sysctl={"net.core.rmem_max": trust_as_template("{{ limit }}")},
    )
    assert found["poplar_server_memlock"] == "65536"
    assert found["poplar_server_sysctl"] == {"net.core.rmem_max": 65536}


def test_a_text_from_a_device_is_no_template() -> None:
    found = settings("poplar_server", poplar_server_memlock="{{ lookup('pipe', 'id') }}")
    assert found["poplar_server_memlock"] == "{{ lookup('pipe', 'id') }}"
    assert not is_trusted_as_template(found["poplar_server_memlock"])


def test_values_are_of_the_types_of_their_role() -> None:
    found = settings("tor_switch", "poplar_server", tor_switch_confirm_within="60", poplar_server_start_networkd="yes")
    assert found["tor_switch_confirm_within"] == 60
    assert found["poplar_server_start_networkd"] is True


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"tor_switch_confirm_within": "soon"}, "tor_switch_confirm_within"),
        ({"tor_switch_state": "mergd"}, "tor_switch_state must be one of"),
        ({"tor_switch_vlans": "101"}, "tor_switch_vlans"),
    ],
)
def test_what_a_role_does_not_take_is_refused_by_its_name(variables: Any, message: str) -> None:
    with pytest.raises(AnsibleError, match=message):
        settings("tor_switch", **variables)


def test_a_template_that_cannot_be_filled_in_is_refused() -> None:
    with pytest.raises(AnsibleError, match="not_there"):
        settings("poplar_server", poplar_server_memlock=trust_as_template("{{ not_there }}"))


@pytest.mark.parametrize("roles", [HOST_ROLES, SWITCH_ROLES])
def test_the_roles_of_a_look_need_no_variable(roles: tuple[str, ...]) -> None:
    found = settings(*roles)
    assert json.loads(json.dumps(found)) == found
