# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a vPOD's server: its V-IPU client, secrets that nobody reads, IPUoF, and refusals."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import CREATE, Step
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.vpod_steps import vpod_steps
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.vpod import CLIENT
from tests.support.in_memory.vpod_hosts import (
    CLIENT_OPTIONS,
    DIRECTORY,
    NETWORK,
    NO_VPOD,
    SECURE,
    SETTINGS,
    Host,
    carry_out,
    certificates,
    controller,
    options,
)

KEY = f"{DIRECTORY}/keys/alice.key"
INITIALISED = Step("run", "task", "Initialise the storage", f"{DIRECTORY}/vipu-server.json is not there")


def server(wanted: dict[str, Any] = NO_VPOD, host: Host | None = None) -> Host:
    """A server as the role has left it."""
    made = Host("pod001-poplar1")
    carry_out(made, host or controller("alice"), wanted, SETTINGS)
    return made


def steps(there: Host, wanted: dict[str, Any], host: Host | None = None, **more: Any) -> list[Step]:
    return vpod_steps(wanted, SETTINGS, there.look(), (host or controller("alice")).look(), **more)


def brief_steps(found: list[Step]) -> list[tuple[str, str, str]]:
    return [(step.action, step.name, step.reason) for step in found]


def test_a_new_vpod_gets_its_client_then_its_partitions() -> None:
    wanted = options(CLIENT_OPTIONS, partitions=("train",), containers=NETWORK)
    assert [step.name for step in steps(server(), wanted)] == [
        "/etc/vipu",
        "/etc/vipu/vipu-cli.hcl",
        "/etc/ipu.pod",
        "/etc/ipu.pod/containers.env",
        "/etc/ipuof.env.d/train.env",
        "/etc/profile.d/ipuof.sh",
    ]


def test_a_server_that_is_as_wanted_has_no_step() -> None:
    for wanted in (NO_VPOD, options(CLIENT_OPTIONS), options(SECURE, partitions=("train",), containers=NETWORK)):
        assert steps(server(wanted), wanted) == []


def test_without_a_user_the_controllers_host_is_not_needed() -> None:
    wanted = options(CLIENT_OPTIONS, partitions=("train",))
    assert vpod_steps(wanted, SETTINGS, server(wanted).look(), None) == []


def test_a_key_that_was_changed_on_the_server_is_reported_without_the_key() -> None:
    wanted = options(SECURE)
    there = server(wanted)
    content = there.files.files[CLIENT].content.replace("key of alice", "another one")
    there.files.write(CLIENT, File(content, mode="0600"))
    found = steps(there, wanted)
    assert brief_steps(found) == [("update", CLIENT, "content or attributes differ")]
    assert "another one" not in str(found)
    assert "key of alice" not in str(found)


def test_a_key_that_the_plan_makes_will_be_another_one() -> None:
    wanted = options(SECURE)
    there = server(wanted)
    assert brief_steps(steps(there, wanted, new_key=True)) == [("update", CLIENT, "content or attributes differ")]
    assert brief_steps(steps(there, wanted, controller(), new_key=True)) == [
        ("update", CLIENT, "content or attributes differ"),
    ]


def test_a_certificate_that_the_controller_has_renewed_is_written_again() -> None:
    wanted, host = options(SECURE), controller("alice")
    there = server(wanted, host)
    host.files.write(certificates(DIRECTORY)[1], File("renewed\n"))
    assert [step.name for step in steps(there, wanted, host)] == ["/etc/vipu/certs/tls.crt"]


def test_a_key_that_nobody_has_is_refused() -> None:
    sentence = (
        f"ctrl001 has no {KEY}, which the V-IPU client on pod001-poplar1 needs; run playbooks/vipu_controllers.yml, "
        "and if it is the key of a user who is there already, write it there."
    )
    with pytest.raises(Refused) as refused:
        steps(server(), options(SECURE), controller())
    assert str(refused.value) == sentence


def test_certificates_that_nobody_has_are_refused() -> None:
    host = controller("alice")
    for path in certificates(DIRECTORY):
        host.files.remove(path)
    with pytest.raises(Refused, match=f"ctrl001 has no {', '.join(certificates(DIRECTORY))}, which"):
        steps(server(), options(SECURE), host)


def test_clients_get_the_authority_of_a_certificate_that_the_plan_makes() -> None:
    certified = Step("run", "task", "Certify the controller's addresses in clouds", "it is not there")
    found = steps(server(options(SECURE)), options(SECURE), controller_earlier=[certified])
    assert [(step.action, step.name) for step in found] == [("update", "/etc/vipu/certs/ca.crt")]


def test_a_controller_that_the_plan_makes_will_have_them() -> None:
    empty = Host("ctrl001")
    found = steps(server(), options(SECURE), empty, new_key=True, controller_earlier=[INITIALISED])
    assert [(step.action, step.name) for step in found][-4:] == [
        *(("create", f"/etc/vipu/certs/{name}") for name in ("ca.crt", "tls.crt", "tls.key")),
        ("create", CLIENT),
    ]


@pytest.mark.parametrize("look", [None, {"outcome": "timed out", "message": "no route to host", "parts": {}}])
def test_what_was_not_read_is_not_guessed(look: Any) -> None:
    with pytest.raises(Refused, match=r"ctrl001: (it was not looked at|no route to host), so what the server needs"):
        vpod_steps(options(SECURE), SETTINGS, server().look(), look)
    there = server().look()
    there["parts"]["ipuof"] = {"message": "/etc/ipuof.conf.d/.ipu.pod.json is damaged"}
    with pytest.raises(Refused, match=r"^/etc/ipuof.conf.d/.ipu.pod.json is damaged$"):
        vpod_steps(NO_VPOD, SETTINGS, there, None)


def test_a_server_that_has_left_its_vpod_loses_what_is_ours() -> None:
    there = server(options(SECURE, partitions=("train",)))
    assert [(step.action, step.name) for step in steps(there, NO_VPOD)] == [
        *(("remove", f"/etc/vipu/certs/{name}") for name in ("ca.crt", "tls.crt", "tls.key")),
        ("remove", CLIENT),
        ("remove", "/etc/profile.d/ipuof.sh"),
        ("remove", "/etc/ipuof.env.d/train.env"),
    ]


def test_the_client_of_somebody_else_stays() -> None:
    there = server()
    there.files.write(CLIENT, File('api-host="10.9.9.9"\n'))
    assert steps(there, NO_VPOD) == []


def test_files_say_what_the_controller_says_of_the_partition() -> None:
    wanted, host = options(CLIENT_OPTIONS, "files", ("train",)), controller()
    host.configurations = {"train": [{"devices": [1]}]}
    there = server(wanted, host)
    assert steps(there, wanted, host) == []
    host.configurations = {"train": [{"devices": [2]}]}
    path = "/etc/ipuof.conf.d/train_ipuof.conf"
    assert brief_steps(steps(there, wanted, host)) == [("update", path, "content is not as wanted")]


def test_files_of_a_dedicated_controller_are_asked_of_that_one() -> None:
    host = controller()
    host.configurations = {"train": [{"devices": [1]}]}
    look = host.look()
    look["parts"]["controllers"] = {"": look["parts"]["controllers"][""], "alice": {"storage": False, "message": "-"}}
    wanted = options({**CLIENT_OPTIONS, "dedicated": "alice"}, "files", ("train",))
    there = server(wanted, host)
    found = vpod_steps(wanted, SETTINGS, there.look(), look)
    assert brief_steps(found) == [("update", "/etc/ipuof.conf.d/train_ipuof.conf", "its partition is yet to be made")]


def test_files_of_a_partition_that_the_plan_makes_again_are_written_again() -> None:
    wanted, host = options(CLIENT_OPTIONS, "files", ("train", "serve")), controller()
    host.configurations = {name: [{"devices": [1]}] for name in ("train", "serve")}
    made = [Step("remove", "partition", "train", "is not declared"), Step(CREATE, "partition", "train", "is missing")]
    found = steps(server(wanted, host), wanted, host, controller_earlier=made)
    assert brief_steps(found) == [("update", "/etc/ipuof.conf.d/train_ipuof.conf", "its partition is yet to be made")]
    assert "content" not in (found[0].after or {})


def test_after_the_way_down_only_the_rest_is_left_to_do() -> None:
    secure, insecure = options(SECURE, partitions=("train",)), options(CLIENT_OPTIONS, partitions=("serve",))
    there = server(secure)
    earlier = steps(there, NO_VPOD)
    assert [(step.action, step.name) for step in steps(there, insecure, earlier=earlier)] == [
        ("create", CLIENT),
        ("create", "/etc/ipuof.env.d/serve.env"),
        ("create", "/etc/profile.d/ipuof.sh"),
    ]
    assert steps(there, NO_VPOD, earlier=earlier) == []
