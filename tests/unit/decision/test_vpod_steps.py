# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a vPOD's server: its V-IPU client, secrets that nobody reads, IPUoF, and refusals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import CREATE, Step
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.vpod_steps import OnController, vpod_steps
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.vpod import CLIENT, client_of, directory_of
from tests.support.in_memory.vpod_hosts import (
    CLIENT_OPTIONS,
    CONTAINERS,
    DIRECTORY,
    NO_VPOD,
    SECURE,
    SETTINGS,
    SHARED,
    Host,
    carry_out,
    certificates,
    controller,
    options,
    shared_with,
)

KEY = f"{DIRECTORY}/keys/alice.key"
INITIALISED = Step("run", "task", "Initialise the storage", f"{DIRECTORY}/vipu-server.json is not there")


def server(wanted: dict[str, Any] = NO_VPOD, host: Host | None = None) -> Host:
    """A server as the role has left it."""
    made = Host("pod001-poplar1")
    carry_out(made, host or controller("alice", "bob"), wanted, SETTINGS)
    return made


def steps(
    there: Host,
    wanted: dict[str, Any],
    host: Host | None = None,
    new_key: bool = False,
    controller_earlier: Sequence[Step] = (),
    earlier: Sequence[Step] = (),
    settings: dict[str, Any] = SETTINGS,
) -> list[Step]:
    on_controller = OnController((host or controller("alice", "bob")).look(), new_key, controller_earlier)
    others = {vpod["name"]: on_controller for vpod in wanted["containers"]}
    return vpod_steps(wanted, settings, there.look(), on_controller, earlier, others)


def brief_steps(found: list[Step]) -> list[tuple[str, str, str]]:
    return [(step.action, step.name, step.reason) for step in found]


def test_a_new_vpod_gets_its_client_then_its_partitions() -> None:
    wanted = options(CLIENT_OPTIONS, partitions=("train",), containers=[CONTAINERS])
    assert [step.name for step in steps(server(), wanted)] == [
        "/etc/vipu",
        "/etc/vipu/vipu-cli.hcl",
        "/etc/ipu-pod",
        "/usr/local/bin/ipu-run",
        "/etc/ipu-pod/containers.json",
        "/etc/systemd/system/ipu-run-release.service",
        "/etc/systemd/system/ipu-run-release.timer",
        "ipu-run-release.timer",
        "/etc/ipuof.env.d/train.env",
        "/etc/profile.d/ipuof.sh",
        "podman/ipu-alice",
    ]


def test_a_server_that_is_as_wanted_has_no_step() -> None:
    for wanted in (NO_VPOD, options(CLIENT_OPTIONS), options(SECURE, partitions=("train",), containers=[CONTAINERS])):
        assert steps(server(wanted), wanted) == []


def test_without_a_user_the_controllers_host_is_not_needed() -> None:
    wanted = options(CLIENT_OPTIONS, partitions=("train",))
    assert vpod_steps(wanted, SETTINGS, server(wanted).look(), OnController(None)) == []


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
        vpod_steps(options(SECURE), SETTINGS, server().look(), OnController(look))
    there = server().look()
    there["parts"]["ipuof"] = {"message": "/etc/ipuof.conf.d/.ipu.pod.json is damaged"}
    with pytest.raises(Refused, match=r"^/etc/ipuof.conf.d/.ipu.pod.json is damaged$"):
        vpod_steps(NO_VPOD, SETTINGS, there, OnController(None))


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
    found = vpod_steps(wanted, SETTINGS, there.look(), OnController(look))
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


def test_an_engine_that_is_down_is_in_the_way_only_of_a_network() -> None:
    there = server()
    there.engines.down["podman"] = "Error: database is locked"
    assert steps(there, NO_VPOD) == []
    with pytest.raises(Refused, match=r"^podman does not answer: .*: Error: database is locked; "):
        steps(there, options(CLIENT_OPTIONS, containers=[CONTAINERS]))


def test_engines_that_were_not_read_are_in_the_way_only_of_a_network() -> None:
    look = server().look()
    look["parts"]["containers"] = {"message": "no time"}
    assert vpod_steps(NO_VPOD, SETTINGS, look, OnController(controller().look())) == []
    with pytest.raises(Refused, match=r"^no time$"):
        vpod_steps(options(CLIENT_OPTIONS, containers=[CONTAINERS]), SETTINGS, look, OnController(controller().look()))


def test_a_network_that_goes_on_the_way_down_is_made_again_on_the_way_up() -> None:
    wanted = options(CLIENT_OPTIONS, containers=[CONTAINERS])
    there = server(wanted)
    down = steps(there, NO_VPOD)
    assert ("remove", "podman/ipu-alice", "is not declared") in brief_steps(down)
    assert ("create", "podman/ipu-alice", "is missing") in brief_steps(steps(there, wanted, earlier=down))


BOB = shared_with("bob", 1)
BOTH = options(containers=[SHARED, BOB])


def test_each_vpod_that_shares_a_server_has_a_client_and_a_network_of_its_own() -> None:
    names = [step.name for step in steps(server(), BOTH)]
    assert [name for name in names if name.startswith("/etc/ipu-pod/vipu")] == [
        "/etc/ipu-pod/vipu",
        *(
            f"/etc/ipu-pod/vipu/{vpod}{path}"
            for vpod in ("alice", "bob")
            for path in ("", "/certs", "/certs/ca.crt", "/certs/tls.crt", "/certs/tls.key", "/vipu-cli.hcl")
        ),
    ]
    assert names[-2:] == ["podman/ipu-alice", "podman/ipu-bob"]
    there = server(BOTH)
    assert "key of bob" in there.files.files[client_of("bob")].content
    assert {there.files.files[client_of(vpod)].mode for vpod in ("alice", "bob")} == {"0600"}
    assert there.directories["/etc/ipu-pod/vipu"] == ("root", "root", "0700")
    assert steps(there, BOTH) == []


def test_a_key_that_nobody_has_for_one_of_them_is_refused() -> None:
    with pytest.raises(Refused, match=r"^ctrl001 has no /var/lib/vipu/keys/bob.key, which the V-IPU client on pod001-"):
        steps(server(), BOTH, controller("alice"))


def test_one_that_leaves_a_shared_server_takes_its_client_along_and_the_last_one_all_of_it() -> None:
    found = steps(server(BOTH), options(containers=[BOB]))
    assert [(step.action, step.name) for step in found] == [
        ("update", "/etc/ipu-pod/containers.json"),
        ("remove", directory_of("alice")),
        ("remove", "podman/ipu-alice"),
    ]
    assert ("remove", "/etc/ipu-pod/vipu", "is there") in brief_steps(steps(server(BOTH), NO_VPOD))
    again = steps(server(BOTH), BOTH, earlier=found)
    assert client_of("alice") in [step.name for step in again]


def test_the_client_of_a_vpod_that_the_run_leaves_aside_is_kept_and_its_controller_not_asked() -> None:
    wanted = options(containers=[SHARED, {**BOB, "vipu_kept": True}])
    there = server(BOTH)
    there.files.write(client_of("bob"), File("something else\n"))
    on_alices = {"alice": OnController(controller("alice").look()), "bob": OnController(None)}
    assert vpod_steps(wanted, SETTINGS, there.look(), OnController(None), (), on_alices) == []


PROGRAM = "/opt/gc/vipu-1.18.0/vipu"
WITH_ARCHIVE = {
    **SETTINGS,
    "vpod_archive": "vipu.tar.gz",
    "vpod_archive_sha256": "a" * 64,
    "vpod_release": "1.18.0",
    "vpod_program": PROGRAM,
}


def of_release(release: str, **settings: str) -> OnController:
    """A controller that says that it is of this release, and its roles' variables."""
    look = controller("alice").look()
    look["parts"]["controllers"][""]["release"] = release
    return OnController({**look, "settings": settings})


def test_the_program_comes_from_the_archive_before_its_settings_and_once() -> None:
    there, wanted = server(), options(CLIENT_OPTIONS)
    found = vpod_steps(wanted, WITH_ARCHIVE, there.look(), of_release("1.18.0"))
    assert [step.name for step in found] == [
        "Copy the release's archive",
        "Install the release",
        "/usr/local/bin/vipu",
        "/etc/vipu",
        "/etc/vipu/vipu-cli.hcl",
    ]
    down = vpod_steps(wanted, WITH_ARCHIVE, there.look(), of_release("1.18.0"), earlier=found)
    assert down == []
    assert vpod_steps(NO_VPOD, WITH_ARCHIVE, there.look(), OnController(None)) == []
    shared = options(containers=[shared_with("alice", 0)])
    names = [step.name for step in steps(there, shared, settings=WITH_ARCHIVE)]
    assert names.count("Install the release") == 1


def test_on_the_controllers_host_the_program_is_the_controllers() -> None:
    there = Host("ctrl001")
    found = vpod_steps(options(CLIENT_OPTIONS), WITH_ARCHIVE, there.look(), OnController(None))
    assert "Install the release" not in [step.name for step in found]


@pytest.mark.parametrize(
    ("there", "settings", "sentence"),
    [
        (
            of_release("1.17.0"),
            WITH_ARCHIVE,
            "vpod_release is 1.18.0, but the V-IPU controller on ctrl001 is of release 1.17.0; set vpod_archive to the "
            "archive of 1.17.0, or leave it out",
        ),
        (
            of_release("1.18.0", vipu_controller_archive="new.tar.gz", vipu_controller_release="1.19.0"),
            WITH_ARCHIVE,
            "vpod_release is 1.18.0, but the V-IPU controller on ctrl001 is of release 1.19.0; set vpod_archive to the "
            "archive of 1.19.0, or leave it out",
        ),
        (
            of_release("1.18.0"),
            {**WITH_ARCHIVE, "vpod_release": ""},
            "vpod_release is missing; set it to the release of vpod_archive, like 1.18.0",
        ),
        (
            of_release("1.18.0"),
            {**WITH_ARCHIVE, "vpod_archive_sha256": "17"},
            "vpod_archive_sha256 is not the SHA-256 checksum of vpod_archive, 64 hexadecimal digits; set it to what "
            "the vendor states, or to what sha256sum says of an archive that you trust",
        ),
    ],
    ids=["another release", "the release that comes", "no release", "no checksum"],
)
def test_an_archive_that_does_not_fit_is_refused(there: OnController, settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Refused) as refused:
        vpod_steps(options(CLIENT_OPTIONS), settings, server().look(), there)
    assert str(refused.value) == sentence
