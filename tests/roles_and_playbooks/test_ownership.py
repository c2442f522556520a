# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two pods of which only the switches are managed: order, the first failure, --limit, the lock and the record."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.roles_and_playbooks.two_switches import PODS, Site, document, two_switches
from tests.support.checkout import PROGRAMS, ROOT
from tests.support.playbook_run import environment_in
from tests.support.processes import kill_with_all_below, wait_until
from tests.support.simulated_tor import PASSWORD, Tor


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with two_switches(tmp_path) as found:
        yield found


def order(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The switches in the order in which they were changed."""
    return re.findall(r"^  (\w+-tor): ", done.stdout, re.MULTILINE)


def test_only_the_switches_are_touched_and_the_summary_says_what_was_left_out(site: Site) -> None:
    done = site.run(name="site")
    assert done.returncode == 0, done.stdout + done.stderr
    assert order(done) == ["blue-tor", "green-tor"]
    assert "Not managed by pods.yml: Poplar servers blue-poplar1, green-poplar1" in done.stdout
    assert "--limit" not in done.stdout
    assert [path.name for path in sorted((site.directory / "state").iterdir())] == [".alone", "runs.jsonl"]


def test_the_pod_with_the_canary_goes_first(site: Site) -> None:
    site.declare(document(canary=["green-tor"]))
    assert order(site.run()) == ["green-tor", "blue-tor"]


def test_a_failing_switch_stops_the_run_before_the_next_is_touched(site: Site) -> None:
    site.switches["blue"].type("configure session somebody", "vlan 999", "name theirs")
    site.switches["green"].requests()
    done = site.run()
    assert done.returncode == 2
    assert "another configuration session is open on the switch" in done.stdout
    # The preflight has read it.
    assert not [commands for commands in site.switches["green"].requests() if "configure" in str(commands)]
    assert not site.configured("green")


REFUSED = "the switch could not be asked: HTTP Error 401: Unauthorized; correct how the inventory says to log in"


@pytest.mark.parametrize("switch", ["green-tor", "green-mgmt"])
def test_a_switch_that_refuses_the_login_stops_the_run_before_anything_is_touched(site: Site, switch: str) -> None:
    site.declare(document(management_switch={"address": "127.0.0.1", "vlans": {"bmc": 10}}))
    site.log_in(switch, "another")
    done = site.run()
    assert done.returncode == 2
    assert f"{switch}: {REFUSED}" in done.stdout
    assert "Nothing has been touched." in done.stdout
    assert not site.configured("blue")
    assert not site.configured("green")
    assert not (site.directory / "state").exists()


def test_a_switch_that_refuses_the_login_in_the_middle_stops_the_run_there(site: Site) -> None:
    password = site.directory / "password"
    password.write_text(PASSWORD)
    site.log_in("green-tor", f"{{{{ lookup('ansible.builtin.file', '{password}') }}}}")
    with ThreadPoolExecutor() as pool:
        run = pool.submit(site.run)
        wait_until(lambda: site.configured("blue") or run.done())
        password.write_text("another")
        done = run.result()
    assert done.returncode == 2
    assert f"  {REFUSED}" in done.stdout
    assert order(done) == ["blue-tor"]
    assert not site.configured("green")
    # The run that failed has no end.
    assert [record["event"] for record in site.records()] == ["started"]


def test_a_limit_gives_the_subset_of_the_plan_and_says_what_it_leaves_out(site: Site) -> None:
    whole = site.dry_run()
    switches = sorted({device for device, _step in whole.predicted})
    assert switches == ["blue-tor", "green-tor"]
    assert "--limit" not in str(whole.reported)
    for limit, within in {"blue-tor": ["blue-tor"], "green": ["green-tor"], "switches": switches}.items():
        limited = site.dry_run("--limit", limit)
        assert limited.predicted == {(device, step) for device, step in whole.predicted if device in within}
        left_out = [host for host in switches if host not in within]
        assert [line for line in limited.reported if "--limit" in line] == [
            f"Left out by --limit: {host}" for host in left_out
        ]


def test_a_plan_under_a_limit_is_a_subset_too(site: Site) -> None:
    def plan(*limit: str) -> list[dict[str, Any]]:
        done = site.run(*limit, "-e", f"plan_directory={site.directory / 'plan'}", name="plan")
        assert done.returncode == 0, done.stdout + done.stderr
        steps = json.loads((site.directory / "plan" / "plan.json").read_text())["steps"]
        return [{key: value for key, value in step.items() if key != "number"} for step in steps]

    whole = plan()
    assert {step["device"] for step in whole} == {"blue-tor", "green-tor"}
    for limit in ("green-tor", "green-tor,localhost"):
        assert plan("--limit", limit) == [step for step in whole if step["device"] == "green-tor"]


def test_a_run_is_recorded_with_who_when_and_what(site: Site) -> None:
    assert site.run("--limit", "blue-tor").returncode == 0
    started, ended = site.records()
    assert (started["event"], started["playbook"], started["pods"]) == ("started", "tor_switches.yml", ["blue"])
    assert started["limit"] == "blue-tor"
    assert (ended["event"], ended["run"]) == ("ended", started["run"])
    assert {step["device"] for step in ended["steps"]} == {"blue-tor"}
    assert {"action", "kind", "name", "reason", "risk"} <= ended["steps"][0].keys()
    shown = site.run(name="runs").stdout
    assert "STARTED" in shown
    assert f"tor_switches.yml  blue  blue-tor  done    {len(ended['steps'])}" in shown


def test_a_dry_run_takes_no_lock_and_leaves_no_record(site: Site) -> None:
    assert site.run("--check").returncode == 0
    assert not (site.directory / "state").exists()


def started(site: Site, pod: str, records: Path | None = None) -> subprocess.Popen[str]:
    """A run that holds a pod, and works on it for as long as it lives; ``records`` is where the lock is."""
    blue = site.switches["blue"]
    playbook = site.directory / "long.yml"
    task = {"name": "Work", "ansible.builtin.command": "sleep infinity", "delegate_to": "localhost"}
    playbook.write_text(
        yaml.safe_dump(
            [
                {"import_playbook": str(ROOT / "playbooks" / "phases" / "hold.yml")},
                {"hosts": f"{pod}-tor", "gather_facts": False, "tasks": [task]},
            ]
        )
    )
    process = subprocess.Popen(
        [f"{PROGRAMS}/ansible-playbook", "-i", str(blue.inventory), str(playbook), *site.options, "--limit", pod],
        cwd=site.directory,
        env=environment_in(site.directory),
        stdout=subprocess.DEVNULL,
        text=True,
    )
    try:
        wait_until(((records or site.directory / "state") / "runs.jsonl").exists)
    except AssertionError:
        kill_with_all_below(process)
        raise
    return process


@pytest.fixture
def at_work(site: Site) -> Iterator[subprocess.Popen[str]]:
    """A run that holds blue."""
    process = started(site, "blue")
    yield process
    kill_with_all_below(process)


def test_the_refusal_of_a_second_run_names_the_first_and_nothing_is_touched(
    site: Site, at_work: subprocess.Popen[str]
) -> None:
    done = site.run()
    assert done.returncode == 2
    holder = json.loads(site.lock("blue").read_text())
    assert holder["process"] == at_work.pid
    message = f"blue is held by {holder['user']} on {holder['host']} (process {at_work.pid}, long.yml) since 2"
    assert message in done.stdout
    assert "wait until that run has ended" in done.stdout
    assert not site.lock("green").exists()
    assert not site.configured("green")
    assert "at work" in site.run(name="runs").stdout


def test_another_pod_is_nobody_elses_business(site: Site, at_work: subprocess.Popen[str]) -> None:
    assert at_work.poll() is None
    assert site.run("--limit", "green").returncode == 0
    assert site.configured("green")
    assert site.lock("blue").exists()


def test_a_dry_run_says_who_is_at_work(site: Site, at_work: subprocess.Popen[str]) -> None:
    done = site.run("--check")
    assert done.returncode == 0
    assert f"(process {at_work.pid}, long.yml)" in done.stdout + done.stderr


def test_the_lock_of_a_killed_run_is_taken_over_with_a_warning(site: Site, at_work: subprocess.Popen[str]) -> None:
    kill_with_all_below(at_work)
    done = site.run("--limit", "blue")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"(process {at_work.pid}, long.yml)" in done.stderr + done.stdout
    assert "which is dead" in done.stderr + done.stdout
    assert not site.lock("blue").exists()
    assert "did not end" in site.run(name="runs").stdout


def test_the_lock_of_another_control_node_is_a_lease(site: Site) -> None:
    theirs = {
        "user": "alice",
        "host": "control1",
        "process": 4711,
        "process_started": "1",
        "node": "theirs",
        "playbook": "site.yml",
        "pod": "blue",
        "since": "2026-11-21T14:02:11Z",
        "lease": 60,
    }
    site.lock("blue").parent.mkdir()

    def renewed(minutes_ago: float) -> subprocess.CompletedProcess[str]:
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - minutes_ago * 60))
        site.lock("blue").write_text(json.dumps({**theirs, "renewed": moment}))
        return site.run("--limit", "blue")

    refused = renewed(minutes_ago=59)
    assert refused.returncode == 2
    holder = "blue is held by alice on control1 (process 4711, site.yml) since 2026-11-21 14:02:11 UTC; wait until that"
    assert holder in refused.stdout
    assert f"or remove {site.lock('blue')} on" in refused.stdout
    assert not site.configured("blue")
    assert renewed(minutes_ago=61).returncode == 0
    assert site.configured("blue")


def test_a_lock_that_no_other_control_node_sees_is_named_as_such(site: Site) -> None:
    done = site.run("--limit", "blue-tor")
    assert done.returncode == 0, done.stdout + done.stderr
    said = re.sub(r"\s+", " ", done.stdout + done.stderr)
    assert "No other control node sees that blue is locked, because neither its V-IPU controller nor a Poplar" in said


def kept_by_servers(site: Site, **variables: Any) -> None:
    """The servers are managed, too, and keep the locks."""
    pods_yml = document()
    for pod in pods_yml["pods"].values():
        pod["managed"] = ["switch", "servers"]
    site.declare(pods_yml)
    host_vars = site.switches["blue"].inventory / "host_vars" / "blue-poplar1.yml"
    host_vars.write_text(yaml.safe_dump({"pod_lock_directory": str(site.directory / "server"), **variables}))


def test_control_nodes_exclude_each_other_by_a_lock_on_a_managed_server(site: Site) -> None:
    kept_by_servers(site, ansible_connection="local", ansible_python_interpreter=sys.executable)
    first = started(site, "blue", site.directory / "server")
    elsewhere = f"pod_lock_own_directory={site.directory / 'another_control_node'}"
    refused = site.run("--limit", "blue-tor", "-e", elsewhere)
    kill_with_all_below(first)
    assert refused.returncode == 2
    assert f"blue is held by {json.loads((site.directory / 'server' / 'blue.lock').read_text())['user']} on " in (
        refused.stdout
    )
    assert not site.configured("blue")
    done = site.run("--limit", "blue-tor", "-e", elsewhere)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No other control node" not in done.stdout + done.stderr
    assert not (site.directory / "another_control_node").exists()


def test_without_the_host_of_the_lock_nothing_is_changed(site: Site) -> None:
    kept_by_servers(site)
    done = site.run("--limit", "blue-tor")
    assert done.returncode != 0
    assert "blue-poplar1, which keeps the lock of blue, is not reached (" in done.stdout
    assert "); nothing more is changed without it" in done.stdout
    assert not site.configured("blue")


# What may happen to a lock between the decision and the steps.
THEIRS = "{{ lookup('file', %r) | from_json | combine({'user': 'bob', 'process': 1}) | to_json }}"
LOSSES = {"taken by another": "blue is held by bob on ", "removed": "which this run has to hold, is gone"}


@pytest.mark.parametrize("loss", LOSSES)
def test_a_run_that_has_lost_its_lock_disturbs_nothing(site: Site, loss: str) -> None:
    assert site.run("--limit", "blue-tor").returncode == 0
    moved = document()
    moved["pods"]["blue"]["rnic"] = {"vlan": 200}
    site.declare(moved)
    lock = str(site.lock("blue"))
    change: dict[str, Any] = {"ansible.builtin.file": {"path": lock, "state": "absent"}}
    if loss != "removed":
        change = {"ansible.builtin.copy": {"dest": lock, "content": THEIRS % lock}}
    meanwhile = {"hosts": "localhost", "gather_facts": False, "tasks": [{"name": "Lose the lock", **change}]}
    phases = [{"import_playbook": str(ROOT / "playbooks" / "phases" / f"{name}.yml")} for name in ("look", "lock")]
    decide = {"import_playbook": str(ROOT / "playbooks" / "phases" / "decide.yml"), "vars": {"run_acts": True}}
    stages = {"import_playbook": str(ROOT / "playbooks" / "phases" / "stages.yml")}
    playbook = site.directory / "interrupted.yml"
    playbook.write_text(yaml.safe_dump([phases[0], decide, phases[1], meanwhile, stages], sort_keys=False))
    done = site.switches["blue"].playbook(playbook, *site.options, "--limit", "blue-tor,localhost", COLUMNS="1000")
    assert done.returncode == 2, done.stdout + done.stderr
    assert LOSSES[loss] in done.stdout
    assert "nothing more is changed; see that nobody else is at work, and run again" in done.stdout
    assert "vlan 200" not in (site.switches["blue"].directory / "running-config").read_text()


# A job that ends when the lock is renewed, which is made as old as if the job had lasted for 50 minutes.
SQUEUE = """#!{python}
import json, pathlib
lock, called = pathlib.Path("{lock}"), pathlib.Path("{called}")
held = json.loads(lock.read_text())
if not called.exists():
    called.touch()
    held["renewed"] = "{old}"
    lock.write_text(json.dumps(held))
if held["renewed"] == "{old}":
    print(7)
"""


def test_a_run_that_waits_for_jobs_renews_its_lock(tmp_path: Path) -> None:
    # No switch is asked.
    site = Site({name: Tor(tmp_path / name, 9) for name in PODS}, tmp_path)
    kept_by_servers(site, ansible_connection="local", ansible_python_interpreter=sys.executable)
    programs, called, lock = (site.directory / name for name in ("programs", "called", "server/blue.lock"))
    programs.mkdir()
    old = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 50 * 60))
    (programs / "squeue").write_text(SQUEUE.format(python=sys.executable, lock=lock, called=called, old=old))
    (programs / "squeue").chmod(0o755)
    phases = ROOT / "playbooks" / "phases"
    nodes = {"ansible.builtin.add_host": {"name": "blue-poplar1", "groups": "slurm_nodes"}}
    wait = [
        {"ansible.builtin.set_fact": {"slurm_jobs_until": "{{ now().timestamp() + 180 }}"}},
        {"ansible.builtin.include_tasks": f"{phases}/tasks/wait_for_jobs.yml"},
    ]
    variables = {"slurm_vpod": "alice", "slurm_way": "dynamic", "ansible_connection": "local"}
    playbook = site.directory / "waiting.yml"
    plays: list[dict[str, Any]] = [
        {"hosts": "localhost", "gather_facts": False, "tasks": [nodes]},
        {"import_playbook": f"{phases}/hold.yml"},
        {"hosts": "blue-poplar1", "gather_facts": False, "vars": variables, "tasks": wait},
    ]
    playbook.write_text(yaml.safe_dump(plays, sort_keys=False))
    path = f"{programs}:{os.environ['PATH']}"
    shortly = ("-e", "pod_lock_lease=1", "--limit", "blue-poplar1,localhost")
    done = site.switches["blue"].playbook(playbook, *site.options, *shortly, PATH=path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert called.exists()
    assert json.loads(lock.read_text())["renewed"] > old
