# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ordinary things against what a host has: which steps make it so, and in which words."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import DISRUPTIVE, NO_RISK, Step, diff_of
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.plain_data import for_tasks, looked_resources
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.resources import (
    Absent,
    Account,
    Directory,
    File,
    KernelParameter,
    Link,
    Made,
    Packages,
    Program,
    Resource,
    Unit,
    differing_resources,
    resource_steps,
)

HOSTS = File("/etc/ipu/hosts", "one\ntwo\nthree\n")
KEY = File("/etc/ipu/key", None, mode="0600", is_secret=True, sha256="ab" * 32)
SERVICE = Unit("ipu.service", restarted_by=("/etc/ipu/hosts",))
RDMA = Packages(by_os_family={"Debian": ("rdma-core", "ethtool"), "RedHat": ("rdma",)}, otherwise="server_packages")


def seen(**parts: Any) -> dict[str, Any]:
    """A look at a Debian host with nothing on it but ``parts``."""
    packages = {"os_family": "Debian", "distribution": "Debian", "missing": [], "unknown": False}
    nothing = {"paths": {}, "texts": {}, "units": {}, "packages": packages, "accounts": []}
    nothing |= {"kernel_parameters": {}, "secrets": {}}
    return {**nothing, **parts}


def path(kind: str = "file", content: str = "", mode: str = "0644", **more: Any) -> dict[str, Any]:
    digest = {"sha256": sha256(content.encode()).hexdigest()} if kind == "file" else {}
    return {"kind": kind, "owner": "root", "group": "root", "mode": mode, "modified": 100, **digest, **more}


def unit(active: str = "active", **more: Any) -> dict[str, Any]:
    return {"there": True, "active": active, "enabled": True, "started": 5, "started_at": 200, **more}


def one(thing: Resource, **parts: Any) -> Step:
    (step,) = resource_steps([thing], seen(**parts))
    return step


def differing(step: Step) -> tuple[Any, Any]:
    """The values before and after, as a plan shows them."""
    diff = diff_of([step])
    before, after = (diff[when].get(step.kind, {}).get(step.name) for when in ("before", "after"))
    return before, after


def brief(step: Step) -> tuple[str, str, str, str]:
    return step.action, step.kind, step.name, step.reason


def test_what_is_as_wanted_needs_no_step() -> None:
    there = seen(
        paths={
            HOSTS.path: path(content=HOSTS.content or ""),
            KEY.path: path(mode="0600"),
            "/etc/ipu": path("directory", mode="0755"),
            "/usr/bin/vipu": path("link", target="/opt/vipu"),
            "/var/storage": path(),
        },
        secrets={KEY.path: {"text": "", "secret": KEY.sha256}},
        units={"ipu.service": unit()},
        kernel_parameters={"net.range": "1\t2"},
    )
    things: list[Resource] = [
        RDMA,
        HOSTS,
        KEY,
        Directory("/etc/ipu"),
        Link("/usr/bin/vipu", "/opt/vipu"),
        Absent("/etc/old"),
        SERVICE,
        KernelParameter("net.range", "1 2"),
        Made("Initialise", "/var/storage"),
    ]
    assert resource_steps(things, there) == []


def test_a_new_file_shows_its_lines() -> None:
    step = one(HOSTS)
    assert brief(step) == ("create", "file", HOSTS.path, "is not there")
    assert differing(step) == (None, {"lines": ["one", "two", "three"]})


def test_of_an_edited_file_the_lines_that_differ_are_shown() -> None:
    text = "one\n2\nthree\n"
    step = one(HOSTS, paths={HOSTS.path: path(content=text)}, texts={HOSTS.path: text})
    assert brief(step) == ("update", "file", HOSTS.path, "content differs")
    assert differing(step) == ({"lines": ["2"]}, {"lines": ["two"]})


def test_of_a_file_whose_text_is_not_known_the_checksums_are_shown() -> None:
    step = one(HOSTS, paths={HOSTS.path: path(content="x")})
    before, after = differing(step)
    assert before == {"sha256": sha256(b"x").hexdigest()}
    assert after == {"sha256": sha256((HOSTS.content or "").encode()).hexdigest()}


def test_a_missing_end_of_line_is_a_difference_too() -> None:
    text = "one\ntwo\nthree"
    step = one(HOSTS, paths={HOSTS.path: path(content=text)}, texts={HOSTS.path: text})
    assert (step.reason, sorted(differing(step)[0])) == ("content differs", ["sha256"])


def test_of_a_file_with_another_mode_the_mode_is_shown() -> None:
    step = one(HOSTS, paths={HOSTS.path: path(content=HOSTS.content or "", mode="0666")})
    assert step.reason == "mode is '0666', wanted '0644'"
    assert differing(step) == ({"mode": "0666"}, {"mode": "0644"})


def test_a_secret_that_differs_says_no_more_than_that() -> None:
    there = {KEY.path: path(content="key", mode="0600")}
    step = one(KEY, paths=there, secrets={KEY.path: {"text": "", "secret": "cd" * 32}})
    assert brief(step) == ("update", "file", KEY.path, "content or attributes differ")
    assert differing(step) == ({"content": "(secret)"}, {"content": "(another secret)"})
    assert "cdcd" not in str(step)
    unknown = File(KEY.path, None, mode="0600", is_secret=True)
    assert one(unknown, paths=there, secrets={KEY.path: {"text": "", "secret": "cd" * 32}}).reason == step.reason
    assert differing(one(KEY)) == (None, {"content": "(secret)"})


def test_what_stands_around_a_secret_is_compared_without_it() -> None:
    wanted = File("/etc/vipu.hcl", "key=(secret)\nhost=a\n", mode="0600", is_secret=True, sha256="ab" * 32)
    there = {wanted.path: path(mode="0600")}
    same = {"text": "key=(secret)\nhost=a\n", "secret": "ab" * 32}
    assert resource_steps([wanted], seen(paths=there, secrets={wanted.path: same})) == []
    other = {**same, "text": "key=(secret)\nhost=b\n"}
    assert one(wanted, paths=there, secrets={wanted.path: other}).reason == "content or attributes differ"
    readable = {wanted.path: path(mode="0644")}
    assert differing(one(wanted, paths=readable, secrets={wanted.path: same})) == ({"mode": "0644"}, {"mode": "0600"})


def test_directories() -> None:
    assert differing(one(Directory("/d"))) == (None, {"state": "directory"})
    step = one(Directory("/d", mode="0700"), paths={"/d": path("directory", mode="0755")})
    assert (step.action, step.reason) == ("update", "mode is '0755', wanted '0700'")


@pytest.mark.parametrize(("kind", "words"), [("directory", "a directory"), ("link", "a link"), ("other", "something")])
def test_what_is_in_the_place_of_a_file_is_not_overwritten(kind: str, words: str) -> None:
    with pytest.raises(Refused, match=rf"^/etc/ipu/hosts is {words}.*, where a file has to be; move it away$"):
        resource_steps([HOSTS], seen(paths={HOSTS.path: path(kind, target="/x")}))


def test_links() -> None:
    link = Link("/usr/bin/vipu", "/opt/2/vipu")
    assert differing(one(link)) == (None, {"state": "link", "src": "/opt/2/vipu"})
    step = one(link, paths={link.path: path("link", target="/opt/1/vipu")})
    assert differing(step) == ({"src": "/opt/1/vipu"}, {"src": "/opt/2/vipu"})
    assert one(link, paths={link.path: path()}).before == {"state": "file"}


def test_what_has_to_go_is_removed() -> None:
    step = one(Absent("/d"), paths={"/d": path("directory")})
    assert brief(step) == ("remove", "file", "/d", "is there")
    assert differing(step) == ({"state": "directory"}, None)


@pytest.mark.parametrize(
    ("found", "wanted", "old", "new", "risk"),
    [
        (unit("inactive"), SERVICE, {"state": "inactive"}, {"state": "active"}, NO_RISK),
        (unit("failed"), SERVICE, {"state": "failed"}, {"state": "active"}, NO_RISK),
        (unit(enabled=False), SERVICE, {"enabled": False}, {"enabled": True}, NO_RISK),
        (unit(), Unit("ipu.service", None, "stopped"), {"state": "active"}, {"state": "inactive"}, DISRUPTIVE),
    ],
)
def test_a_service_tells_what_it_does_and_will_do(found: Any, wanted: Unit, old: Any, new: Any, risk: str) -> None:
    step = one(wanted, units={"ipu.service": found})
    assert (step.kind, step.name, step.action, step.risk) == ("service", "ipu.service", "update", risk)
    assert differing(step) == (old, new)


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (unit("activating"), SERVICE),
        (unit("failed"), Unit("ipu.service", None, "stopped")),
        (unit(enabled=False), Unit("ipu.service", None)),
    ],
)
def test_a_service_that_needs_nothing(found: Any, wanted: Unit) -> None:
    assert resource_steps([wanted], seen(units={"ipu.service": found})) == []


def test_a_service_whose_unit_is_yet_to_come_is_created() -> None:
    step = one(SERVICE, units={"ipu.service": {"there": False, "active": "inactive", "enabled": False}})
    assert brief(step) == ("create", "service", "ipu.service", "is not there")
    assert differing(step) == (None, {"state": "active", "enabled": True})
    assert [each.after for each in resource_steps([HOSTS, SERVICE], seen())[1:]] == [
        {"state": "active", "enabled": True}
    ]


def test_a_service_is_restarted_when_its_file_is_written() -> None:
    _file, step = resource_steps([HOSTS, SERVICE], seen(units={"ipu.service": unit()}))
    assert (step.reason, step.risk) == ("state is 'active', wanted 'restarted'", DISRUPTIVE)


def test_a_service_that_has_not_read_its_file_is_restarted() -> None:
    """A run has written the file and failed before the restart."""
    there = {HOSTS.path: path(content=HOSTS.content or "", modified=201)}
    (step,) = resource_steps([HOSTS, SERVICE], seen(paths=there, units={"ipu.service": unit()}))
    assert differing(step) == ({"state": "active"}, {"state": "restarted"})
    stopped = unit("inactive")
    assert differing(one(SERVICE, paths=there, units={"ipu.service": stopped}))[1] == {"state": "active"}


def test_packages() -> None:
    packages = {"os_family": "Debian", "distribution": "Debian", "missing": ["ethtool", "rdma"], "unknown": False}
    step = one(RDMA, packages=packages)
    assert brief(step) == ("update", "package", "rdma-core, ethtool", "is not as wanted")
    assert differing(step) == ({"missing": ["ethtool"]}, {"missing": []})
    assert resource_steps([Packages(("perftest",))], seen(packages=packages)) == []
    unknown = {**packages, "missing": [], "unknown": True}
    assert one(Packages(("perftest",)), packages=unknown).name == "perftest"


def test_an_os_whose_packages_are_not_known() -> None:
    packages = {"os_family": "Suse", "distribution": "SLES", "missing": [], "unknown": False}
    with pytest.raises(Refused, match="this host runs SLES, whose package names are not known; set server_packages"):
        resource_steps([RDMA], seen(packages=packages))


def test_kernel_parameters() -> None:
    step = one(KernelParameter("net.x", "1"), kernel_parameters={"net.x": "0"})
    assert brief(step) == ("update", "kernel_parameter", "net.x", "value is '0', wanted '1'")
    with pytest.raises(Refused, match=r"no parameter net\.y"):
        resource_steps([KernelParameter("net.y", "1")], seen())


def test_a_user_comes_and_goes() -> None:
    account, gone = Account("ipu", "/var/lib/ipu"), Account("ipu", "/var/lib/ipu", is_there=False)
    assert brief(one(account)) == ("create", "account", "ipu", "is not there")
    assert brief(one(gone, accounts=["ipu"])) == ("remove", "account", "ipu", "is there")
    assert resource_steps([account], seen(accounts=["ipu"])) == resource_steps([gone], seen()) == []


def test_a_command_is_a_step_by_the_name_of_its_task() -> None:
    step = one(Made("Initialise the storage", "/var/storage"))
    assert brief(step) == ("run", "task", "Initialise the storage", "/var/storage is not there")


def test_a_program_is_compared_by_its_checksum() -> None:
    program = Program("/usr/local/bin/p", sha256(b"new").hexdigest())
    assert brief(one(program)) == ("create", "file", program.path, "is not there")
    there = path(content="new", mode="0755")
    assert resource_steps([program], seen(paths={program.path: there})) == []
    for other in (path(content="old", mode="0755"), {**there, "mode": "0644"}):
        assert one(program, paths={program.path: other}).action == "update"
    with pytest.raises(Refused, match="is a directory, where a file has to be"):
        one(program, paths={program.path: path("directory")})


def test_what_has_to_be_looked_at() -> None:
    restarted = Unit("other.service", restarted_by=("/etc/other",))
    things: list[Resource] = [
        RDMA,
        HOSTS,
        KEY,
        Directory("/d"),
        Absent("/gone"),
        SERVICE,
        restarted,
        Made("Make", "/made"),
        Account("ipu", "/var/lib/ipu"),
    ]
    assert looked_resources([*things, KernelParameter("net.x", "1"), Packages(("ethtool", "perftest"))]) == {
        "paths": [HOSTS.path, KEY.path, "/d", "/gone", "/made", "/etc/other"],
        "texts": [HOSTS.path],
        "secrets": [KEY.path],
        "units": ["ipu.service", "other.service"],
        "packages": ["rdma-core", "ethtool", "rdma", "perftest"],
        "accounts": ["ipu"],
        "kernel_parameters": ["net.x"],
    }


def test_tasks_get_no_secret() -> None:
    found = for_tasks([HOSTS, File("/key", None, mode="0600", is_secret=True, source="/its/key"), SERVICE, RDMA])
    assert found["files"] == [
        {"path": HOSTS.path, "content": HOSTS.content, "owner": "root", "group": "root", "mode": "0644"}
    ]
    assert found["secret_files"] == [
        {"path": "/key", "content": None, "owner": "root", "group": "root", "mode": "0600", "source": "/its/key"}
    ]
    assert found["units"][0]["restarted_by"] == [HOSTS.path]
    assert found["packages_by_os_family"]["RedHat"] == ["rdma"]


def test_what_differs_is_found_and_what_cannot_be_compared_is_left_to_its_task() -> None:
    right, other, missing = (File(f"/etc/ipu/{name}", "one\n") for name in ("right", "other", "missing"))
    linked, place = Directory("/etc/slurm"), Directory("/etc/ipu")
    paths = {
        right.path: path(content="one\n"),
        other.path: path(content="two\n"),
        linked.path: path("link", target="/etc/slurm-llnl"),
        place.path: path("directory", mode="0755"),
    }
    things: list[Resource] = [place, linked, right, other, missing, Absent(right.path), Absent(missing.path)]
    assert differing_resources(things, seen(paths=paths)) == [linked, other, missing, Absent(right.path)]
