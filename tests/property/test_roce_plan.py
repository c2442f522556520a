# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random lossless settings, both tool sets: one run suffices, check mode predicts it, a driver reload keeps it."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Outcome, Refused
from ansible_collections.ipu.pod.plugins.module_utils._roce.client import RoceClient
from ansible_collections.ipu.pod.plugins.module_utils._roce.plan import gathered, lasting
from podsim.nic.hardware import CELL_SIZE, Port
from tests.support.in_memory.roce_server import MACS, TinyRoceServer, run

PRIORITIES = st.integers(0, 7)
SOME_PRIORITIES = st.lists(PRIORITIES, unique=True, max_size=3)
DSCPS = st.sampled_from([0, 10, 26, 48])
TOS = st.sampled_from([0, 42, 106, 104, 194])
RING = st.sampled_from([512, 1024, 8192])
SIZES = st.lists(st.sampled_from([0, 20_480, 32_640]), min_size=8, max_size=8)
SETTINGS: dict[str, st.SearchStrategy[Any]] = {
    "pause": st.fixed_dictionaries({}, optional={"rx": st.booleans(), "tx": st.booleans()}),
    "rings": st.fixed_dictionaries({}, optional={"rx": RING, "tx": RING}),
    "trust": st.sampled_from(["dscp", "pcp"]),
    "dscp_map": st.dictionaries(DSCPS, PRIORITIES),
    "pfc": SOME_PRIORITIES,
    "buffer_sizes": SIZES,
    "roce_mode": st.sampled_from(["v1", "v2"]),
    "roce_tos": TOS,
}
OFED_SETTINGS = {"ecn": SOME_PRIORITIES, "traffic_class": st.just(-1) | TOS}


@st.composite
def ports(draw: st.DrawFn, rdma_device: str) -> Port:
    """A NIC that somebody has been at."""
    port = Port(rdma_device)
    port.pfc = sorted(draw(SOME_PRIORITIES))
    for dscp, priority in draw(SETTINGS["dscp_map"]).items():
        port.map_dscp(dscp, priority)
    port.pause.update(draw(SETTINGS["pause"]))
    port.rings.update(draw(SETTINGS["rings"]))
    port.roce_mode = draw(st.sampled_from(["RoCE v2", "IB/RoCE v1"]))
    port.roce_tos = draw(TOS)
    port.set_buffers(draw(SIZES))
    return port


@st.composite
def servers(draw: st.DrawFn) -> TinyRoceServer:
    server = TinyRoceServer(ofed=draw(st.booleans()))
    for device, port in server.nics.ports.items():
        server.nics.ports[device] = draw(ports(port.rdma_device))
    return server


@st.composite
def lossless(draw: st.DrawFn, ofed: bool) -> dict[str, Any]:
    """Settings that belong together, so that most of them are not refused; others are thrown in."""
    priority, dscp = draw(PRIORITIES), draw(st.sampled_from([10, 26, 48]))
    together = {
        "pause": {"rx": False, "tx": False},
        "trust": "dscp",
        "dscp_map": {dscp: priority, draw(DSCPS.filter(lambda other: other != dscp)): draw(PRIORITIES)},
        "pfc": [priority],
        "roce_mode": "v2",
        "roce_tos": dscp * 4 + 2,
    }
    free = {name: SETTINGS[name] for name in ("rings", "buffer_sizes")} | ({"ecn": SOME_PRIORITIES} if ofed else {})
    return {**together, **draw(st.fixed_dictionaries({}, optional=free))}


@st.composite
def declarations(draw: st.DrawFn, ofed: bool) -> list[dict[str, Any]]:
    settings = {**SETTINGS, **(OFED_SETTINGS if ofed else {})}
    anything = st.fixed_dictionaries({}, optional=settings)
    not_lossless = st.just({"trust": "pcp", "pfc": []})
    return [
        {"name": name, **draw(st.one_of(lossless(ofed), lossless(ofed), not_lossless, anything))}
        for name in draw(st.lists(st.sampled_from(sorted(MACS)), unique=True))
    ]


@st.composite
def cases(draw: st.DrawFn) -> tuple[TinyRoceServer, list[dict[str, Any]]]:
    """A server, on which an earlier declaration may have been made true, and what is declared now."""
    server = draw(servers())
    for _round in range(draw(st.integers(0, 1))):
        attempt(server, draw(declarations(server.files.ofed)))
    return server, draw(declarations(server.files.ofed))


def attempt(server: TinyRoceServer, options: list[dict[str, Any]], check_mode: bool = False) -> Outcome | None:
    try:
        return run(server, *options, check_mode=check_mode)
    except Refused:
        return None


def seen(server: TinyRoceServer) -> Any:
    """All that the server has, apart from what its NICs hold for DSCPs that are not mapped."""
    ports = {name: {**values, "firmware_map": None} for name, values in server.nics.kept().items()}
    return copy.deepcopy((ports, server.files.files, server.files.ecn, server.files.traffic_classes))


@given(case=cases())
def test_one_run_reaches_what_is_declared_as_check_mode_predicted(
    case: tuple[TinyRoceServer, list[dict[str, Any]]],
) -> None:
    server, options = case
    before = seen(server)
    predicted = attempt(server, options, check_mode=True)
    assert seen(server) == before
    real = attempt(server, options)
    if predicted is None or real is None:
        assert predicted is real is None
        assert seen(server) == before
        return
    assert real.failure is None
    assert real.result() == predicted.result()
    assert not run(server, *options, check_mode=True).changed
    for option in options:
        _check(server, option)
    untouched = {name: port for name, port in before[0].items() if name not in {option["name"] for option in options}}
    assert untouched == {name: port for name, port in seen(server)[0].items() if name in untouched}


def _check(server: TinyRoceServer, option: dict[str, Any]) -> None:
    """The NIC has what is declared, read past the collection."""
    port = server.nics.ports[option["name"]]
    assert port.pfc == sorted(option.get("pfc", port.pfc))
    assert port.trust == option.get("trust", port.trust)
    assert {**port.applications, **option.get("dscp_map", {})} == port.applications
    assert {**port.pause, **option.get("pause", {})} == port.pause
    assert {**port.rings, **option.get("rings", {})} == port.rings
    assert port.roce_mode.endswith(option.get("roce_mode", ""))
    assert port.roce_tos == option.get("roce_tos", port.roce_tos)
    sizes = [size // CELL_SIZE * CELL_SIZE for size in option.get("buffer_sizes", port.buffer_sizes)]
    assert port.buffer_sizes == sizes
    if "ecn" in option:
        on = {key for key, value in server.files.ecn.items() if value == "1" and key.startswith(option["name"])}
        assert on == {f"{option['name']} {point} {priority}" for point in ("np", "rp") for priority in option["ecn"]}


@given(case=cases())
def test_a_driver_reload_leaves_nothing_to_do(case: tuple[TinyRoceServer, list[dict[str, Any]]]) -> None:
    server, options = case
    outcome = attempt(server, options)
    assume(outcome is not None)
    server.reload_driver()
    # What is neither declared nor in a script is as a new NIC has it, which may contradict what is declared.
    again = attempt(server, options, check_mode=True)
    assert again is None or not again.changed


@given(case=cases(), failing=st.sampled_from(["--pfc", "pfc set", "--trust", "app add", "ethtool -G", "-t ", "buffer"]))
def test_a_failed_change_leaves_the_nic_as_it_was(
    case: tuple[TinyRoceServer, list[dict[str, Any]]], failing: str
) -> None:
    server, options = case
    assume(options)
    before = seen(server)
    real = server.run

    def fails_once(argv: list[str]) -> tuple[int, str, str]:
        if failing in " ".join(argv) and "show" not in argv and server.run is fails_once:
            server.run = real  # type: ignore[method-assign]
            return 1, "", "this was arranged to fail"
        return real(argv)

    server.run = fails_once  # type: ignore[method-assign]
    outcome = attempt(server, options[:1])
    if outcome is None or outcome.failure is None:
        return
    assert "arranged to fail; the old settings are back" in str(outcome.failure)
    assert seen(server) == before


@given(server=servers())
def test_what_is_gathered_says_what_the_nics_have(server: TinyRoceServer) -> None:
    for found in gathered(RoceClient(server.run, server.files).survey_all()):
        port = server.nics.ports[found["name"]]
        assert (found["trust"], found["pfc"], found["rings"]) == (port.trust, port.pfc, port.rings)
        assert found["dscp_map"] == {str(dscp): port.applications[dscp] for dscp in sorted(port.applications)}


@given(case=cases())
def test_what_comes_back_after_a_restart_can_be_declared(case: tuple[TinyRoceServer, list[dict[str, Any]]]) -> None:
    server, options = case
    before = lasting(RoceClient(server.run, server.files).survey_all())
    assert not before or not run(server, *before, check_mode=True).changed
    outcome = attempt(server, options)
    assume(outcome is not None)
    found = lasting(RoceClient(server.run, server.files).survey_all())
    named = {option["name"] for option in options if any(value != {} for key, value in option.items() if key != "name")}
    assert named <= {each["name"] for each in found}
    assert not found or not run(server, *found, check_mode=True).changed
    for port in server.nics.ports.values():
        port.pfc = [5]
    drifted = lasting(RoceClient(server.run, server.files).survey_all())
    assert [each for each in drifted if each.get("pfc", [5]) != [5]] == []
