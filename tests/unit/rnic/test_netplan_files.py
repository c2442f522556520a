# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of netplan as they are read: ours after a person's edit, and those of others, with PyYAML and without."""

from __future__ import annotations

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._rnic import netplan
from ansible_collections.ipu.pod.plugins.module_utils._rnic.netplan import Netplan, mentions
from ansible_collections.ipu.pod.plugins.module_utils._rnic.profile import HEADER, Kept, Profile

MAC = "04:3f:72:00:01:02"
PROFILE = Profile(
    "rnic0", device="ens2f0", mac=MAC, mtu=9000, addresses=("10.5.1.1/16", "fd00::1/64"), description="a b"
)
(OURS,) = Netplan().render(PROFILE)
KEPT = Kept(9000, PROFILE.addresses, "a b")
OTHER = (
    "network: {version: 2, ethernets: {rnic0: {mtu: '%s', addresses: %s}, rnic1: {mtu: 1500, addresses: [1.2.3.4/8]}}}"
)
ALIASES = "\n".join(["a0: &a0 [x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30))])


@pytest.fixture(params=[True, False], ids=["yaml", "no yaml"])
def _with_and_without_yaml(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(netplan, "HAS_YAML", request.param)


@pytest.mark.usefixtures("_with_and_without_yaml")
def test_what_was_rendered_here_is_read_again() -> None:
    assert Netplan().kept(Netplan().render(PROFILE)) == KEPT
    assert Netplan().kept({}) == Kept()


@pytest.mark.usefixtures("_with_and_without_yaml")
def test_what_is_no_yaml_is_read_by_our_lines() -> None:
    (text,) = Netplan().render(PROFILE).values()
    assert Netplan().kept({OURS: f"{text}\t: [\n"}) == KEPT


@pytest.mark.parametrize(
    ("mtu", "addresses", "kept"),
    [
        ("4200", "[10.5.1.1/16]", Kept(4200, ("10.5.1.1/16",))),
        ("many", "['10.5.1.1/16': {label: 'x:1'}, later, fd00::1/64]", Kept(None, ("10.5.1.1/16", "fd00::1/64"))),
        ("9000", "10.5.1.1/16", Kept(9000)),
    ],
)
def test_what_a_person_has_written_otherwise_is_kept(mtu: str, addresses: str, kept: Kept) -> None:
    assert Netplan().kept({OURS: f"{HEADER}\n{OTHER % (mtu, addresses)}"}) == kept


@pytest.mark.parametrize(
    "text", ["", "[]", "network: 2", "network: [x]", "network: {ethernets: {rnic0: {mtu: [9000]}}}"]
)
def test_settings_that_are_not_in_the_file_are_not_kept(text: str) -> None:
    assert Netplan().kept({OURS: text}) == Kept()


@pytest.mark.usefixtures("_with_and_without_yaml")
@pytest.mark.parametrize(
    ("text", "is_mentioned"),
    [
        ("network:\n  ethernets:\n    rnic0: {}\n", True),
        ("network:\n  ethernets:\n    'rnic0':\n      mtu: 9000\n", True),
        ("network:\n  bridges:\n    br0: {interfaces: [rnic1, rnic0]}\n", True),
        ("network:\n  ethernets:\n    data: {match: {macaddress: '04:3F:72:00:01:02'}}\n", True),
        ("network:\n  ethernets:\n    rnic01: {}\n  vlans:\n    v: {link: rnic0}\n", False),
    ],
)
def test_others_mention_an_interface_or_not(text: str, is_mentioned: bool) -> None:
    assert mentions(text, "rnic0", MAC) is is_mentioned


@pytest.mark.parametrize(
    ("text", "is_mentioned"),
    [
        ("network: {ethernets: {rnic0: {dhcp4: true}}}\n", True),
        ('{"network": {"bonds": {"b": {"interfaces": ["rnic0"]}}}}', True),
        (f"# The data plane is\n# - rnic0\n# with {MAC}\nnetwork: {{version: 2}}\n", False),
    ],
)
def test_only_yaml_tells_every_spelling_from_a_comment(text: str, is_mentioned: bool) -> None:
    assert mentions(text, "rnic0", MAC) is is_mentioned


@pytest.mark.parametrize(
    "text", [ALIASES, "&a [*a]", "[" * 5000, '"\\Uffffffff"', "? [a]\n: b\n", "!!python/name:os.system"]
)
def test_no_file_can_stop_or_start_anything(text: str) -> None:
    assert not mentions(text, "rnic0", MAC)
