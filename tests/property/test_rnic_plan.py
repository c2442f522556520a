# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random declared interfaces on random servers: one run reaches them, check mode foretells it, the rest stays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Outcome, converge
from ansible_collections.ipu.pod.plugins.module_utils._rnic import network_file
from ansible_collections.ipu.pod.plugins.module_utils._rnic.declared import interfaces_from, sorted_addresses
from ansible_collections.ipu.pod.plugins.module_utils._rnic.networkd import Networkd
from ansible_collections.ipu.pod.plugins.module_utils._rnic.plan import gathered
from ansible_collections.ipu.pod.plugins.module_utils._rnic.session import Session
from tests.unit.rnic.tiny_server import Nic, TinyServer

NAMES = ["rnic0", "rnic1", "rnic2"]
MACS = {name: f"04:3f:72:00:01:0{number}" for number, name in enumerate(NAMES)}
MTUS = st.sampled_from([1500, 4200, 9000])


def addresses_of(name: str) -> st.SearchStrategy[list[str]]:
    """Addresses that no other interface has."""
    number = NAMES.index(name) + 1
    pool = [f"10.{number}.1.1/16", f"10.{number}.1.2/16", f"10.{number}.1.2/24", f"fd00:{number}::1/64"]
    return st.lists(st.sampled_from(pool), unique_by=lambda address: address.split("/")[0])


@dataclass
class Case:
    """A server, and what is declared for it.

    ``labels`` are what its NICs are declared as; ``kept`` are the MTU and addresses that stay unless they are declared.
    """

    server: TinyServer
    options: list[dict[str, Any]]
    labels: dict[str, str]
    kept: dict[str, tuple[int, list[str]]]

    @property
    def declared(self) -> dict[str, dict[str, Any]]:
        """The declaration of each declared NIC."""
        by_label = {option["name"]: option for option in self.options}
        return {name: by_label[label] for name, label in self.labels.items() if label in by_label}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    labels = {name: draw(st.sampled_from([name, f"data-{name}"])) for name in NAMES}

    def mac_of(name: str) -> str | None:
        return MACS[name] if labels[name] != name or draw(st.booleans()) else None

    nics = {"eno1": Nic("d0:94:66:00:00:01", addresses=["10.3.1.101/24"]), **{name: Nic(MACS[name]) for name in NAMES}}
    files = {
        "/etc/systemd/network/10-eno1.network": File("[Match]\nName=eno1\n[Network]\nAddress=10.3.1.101/24\n"),
        "/etc/systemd/network/90-rest.network": File("[Match]\nName=rnic2\n[Link]\nMTUBytes=1500\n"),
    }
    kept = {}
    for name in draw(st.lists(st.sampled_from(NAMES), unique=True)):
        mtu, addresses = kept[name] = draw(MTUS), sorted_addresses(draw(addresses_of(name)))
        settings = network_file.settings_for(labels[name], mac_of(name), mtu, addresses, "")
        by_hand = draw(st.sampled_from(["", "Gateway=10.5.0.1\n", "\n# a note\n", "MTUBytes\n"]))
        files[network_file.path_of(labels[name])] = File(network_file.render(settings) + by_hand)
    server = TinyServer(nics, files)
    for name in draw(st.lists(st.sampled_from(NAMES), unique=True)):
        nic = server.nics[name]
        nic.mtu, nic.up, nic.addresses = draw(MTUS), draw(st.booleans()), draw(addresses_of(name))
    options = [
        {
            "name": labels[name],
            "mac": mac_of(name),
            "addresses": draw(st.none() | addresses_of(name)),
            "mtu": draw(st.none() | MTUS),
            "description": draw(st.none() | st.sampled_from(["", "IPU data plane"])),
        }
        for name in draw(st.lists(st.sampled_from(NAMES), unique=True))
    ]
    running = {name: (nic.mtu, nic.addresses) for name, nic in server.nics.items()}
    return Case(server, options, labels, {**running, **kept})


def outcome_of(server: TinyServer, options: list[dict[str, Any]], check_mode: bool) -> Outcome:
    backend = Networkd(server.run, server.files, clock=server.clock, pause=server.pause)
    session = Session(backend, interfaces_from(options))
    return converge(session.read, session.plan, session.apply, check_mode)


@given(case=cases())
def test_one_run_reaches_what_is_declared_as_check_mode_foretold(case: Case) -> None:
    server, options = case.server, case.options
    ours = {network_file.path_of(option["name"]) for option in options}
    others = {path: file for path, file in server.files.files.items() if path not in ours}
    untouched = {name: replace(nic) for name, nic in server.nics.items() if name not in case.declared}
    written = dict(server.files.files)

    foretold = outcome_of(server, options, check_mode=True)
    assert server.files.files == written

    real = outcome_of(server, options, check_mode=False)
    assert real.failure is None
    assert real.result() == foretold.result()
    assert not outcome_of(server, options, check_mode=True).changed

    for name, option in case.declared.items():
        nic, (mtu, addresses) = server.nics[name], case.kept[name]
        wanted_addresses = addresses if option["addresses"] is None else option["addresses"]
        assert nic.up
        assert nic.mtu == (option["mtu"] or mtu)
        assert sorted(nic.addresses) == sorted(wanted_addresses)
    assert {path: server.files.files[path] for path in others} == others
    assert {name: server.nics[name] for name in untouched} == untouched


@given(case=cases())
def test_settings_that_are_not_declared_are_kept(case: Case) -> None:
    """Once an interface is as its file says, declaring only its name changes nothing, running or persistent."""
    outcome_of(case.server, case.options, check_mode=False)
    bare = [{"name": option["name"], "mac": option["mac"]} for option in case.options]
    assert not outcome_of(case.server, bare, check_mode=True).changed


@given(case=cases(), refused=MTUS)
def test_a_failed_change_leaves_the_interface_as_it_was(case: Case, refused: int) -> None:
    server = case.server
    server.refused_mtus = {refused}
    before = {name: _running(nic) for name, nic in server.nics.items()}
    files = dict(server.files.files)
    outcome = outcome_of(server, case.options, check_mode=False)
    if outcome.failure is None:
        return
    failed = outcome.steps[outcome.failure.done].name
    name = next(name for name, label in case.labels.items() if label == failed)
    path = network_file.path_of(failed)
    assert server.files.files.get(path) == files.get(path)
    assert _running(server.nics[name]) == before[name]
    assert "the old settings are back" in str(outcome.failure)


def _running(nic: Nic) -> tuple[int, bool, list[str]]:
    return nic.mtu, nic.up, sorted(nic.addresses)


@given(case=cases())
def test_what_is_gathered_keeps_every_running_setting(case: Case) -> None:
    nics = case.server.nics
    assert gathered(Networkd(case.server.run, case.server.files).survey([])) == [
        {"name": name, "mac": MACS[name], "addresses": sorted_addresses(nics[name].addresses), "mtu": nics[name].mtu}
        for name in NAMES
    ]
