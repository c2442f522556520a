# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in for an address is of the same kind, belongs to the same ones, and is written in the same way."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, ip_address

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._anonymous.addresses import ADDRESS, Addresses


def replaced(text: str, *others: str) -> str:
    return ADDRESS.sub(Addresses(b"key", [text, *others]).replaced, text)


def test_ipv4_addresses_of_one_network_stay_together_and_their_hosts_are_told() -> None:
    one, network, other = replaced("10.5.1.101/16 10.5.0.0/16 10.1.5.101").split()
    assert IPv4Interface(one).network == IPv4Interface(network).network
    assert one.endswith(".1.101/16")
    assert other.endswith(".5.101")
    assert {str(IPv4Address(each.split("/")[0]))[:3] for each in (one, other)} == {"10."}
    assert one[:6] != "10.5.1"


@pytest.mark.parametrize("text", ["172.20.3.7", "192.168.7.9", "100.70.1.1"])
def test_a_private_address_stays_in_its_range(text: str) -> None:
    stand_in = replaced(text)
    assert stand_in != text
    assert stand_in.split(".")[0] == text.split(".", maxsplit=1)[0]
    assert stand_in.split(".")[3] == text.split(".")[3]


def test_a_network_is_one_again() -> None:
    assert IPv4Interface(replaced("10.32.0.0/11")).network.network_address == IPv4Interface(replaced("10.32.0.0/11")).ip
    assert replaced("0.0.0.0/0 10.0.0.0/8") == "0.0.0.0/0 10.0.0.0/8"


def test_public_addresses_are_nobodys_and_stay_together() -> None:
    one, other, third = replaced("9.9.9.9 9.9.1.2 8.8.8.8").split()
    assert (one, other, third) == ("240.0.9.9", "240.0.1.2", "240.1.8.8")


@pytest.mark.parametrize(
    "text", ["127.0.0.1", "255.255.240.0", "224.0.0.5", "0.0.255.255", "169.254.1.1", "::1", "ff02::1"]
)
def test_what_is_everybodys_stays(text: str) -> None:
    assert replaced(text) == text


@pytest.mark.parametrize(
    "text", ["16.26.1040", "4.28.3M", "0000:3b:00.0", "12:30:45", "5.15.0-91", "999.1.1.1", "a::b::c"]
)
def test_what_is_no_address_stays(text: str) -> None:
    assert replaced(text) == text


def test_a_mac_address_is_the_same_one_however_it_is_written() -> None:
    forms = "0c:42:a1:12:34:56 0c42.a112.3456 0C-42-A1-12-34-56 enx0c42a1123456 fe80::e42:a1ff:fe12:3456"
    colons, dots, dashes, bare, link_local = replaced(forms).split()
    digits = colons.replace(":", "")
    assert digits.startswith("0c42a1")
    assert digits != "0c42a1123456"
    assert (dots.replace(".", ""), dashes.replace("-", "").lower(), bare) == (digits, digits, f"enx{digits}")
    assert dashes == dashes.upper()
    assert ip_address(link_local) == ip_address(
        f"fe80::e{digits[1:4]}:{digits[4:6]}ff:fe{digits[6:8]}:{digits[8:]}".replace("ec42", "e42")
    )


def test_a_gid_has_the_stand_in_of_its_address_and_as_many_digits() -> None:
    gid, address = replaced("0000:0000:0000:0000:0000:ffff:0a05:0165 10.5.1.101").split()
    assert len(gid) == len("0000:0000:0000:0000:0000:ffff:0a05:0165")
    assert ip_address(gid).ipv4_mapped == ip_address(address)  # type: ignore[union-attr]


def test_a_locally_given_mac_address_keeps_that_alone() -> None:
    # Docker puts the IPv4 address into the last four bytes.
    stand_in = replaced("02:42:ac:11:00:02")
    assert stand_in[:2] == "02"
    assert "ac:11:00:02" not in stand_in


def test_ipv6_addresses_of_one_site_stay_together() -> None:
    one, other, local = replaced("2a00:1450:4001:1::7 2a00:1450:4001:2::7 fd12:3456:789a::1").split()
    assert (one, other) == ("2001:db8:0:1::7", "2001:db8:0:2::7")
    assert local.startswith("fd")
    assert local.endswith("::1")
    assert local != "fd12:3456:789a::1"


def test_no_stand_in_is_an_address_of_the_site() -> None:
    text = " ".join(f"10.{second}.0.1" for second in range(0, 256, 2)) + " 9.9.9.9 240.0.9.9"
    assert not set(replaced(text).split()) & set(text.split())


def test_another_key_gives_other_stand_ins() -> None:
    texts = ["0c:42:a1:12:34:56"]
    stand_ins = {ADDRESS.sub(Addresses(bytes([key]), texts).replaced, texts[0]) for key in range(9)}
    assert len(stand_ins) == 9


@pytest.mark.parametrize("key", range(64))
def test_no_address_stands_for_itself_even_if_a_site_has_all_of_a_range(key: int) -> None:
    texts = [f"172.{second}.0.1" for second in range(16, 32)]
    addresses = Addresses(bytes([key]), texts)
    stand_ins = [ADDRESS.sub(addresses.replaced, text) for text in texts]
    assert sorted(stand_ins) == sorted(texts)
    assert [text for text, stand_in in zip(texts, stand_ins, strict=True) if text == stand_in] == []
