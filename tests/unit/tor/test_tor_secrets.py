# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets in lines of a switch that are somebody else's: none is kept, and none is shown."""

from __future__ import annotations

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._tor.secrets import header_of, shown_diff, without_secrets

SECRET = "s3cr3t"
LINES = [
    f"username joe secret sha512 {SECRET}",
    f"username joe sshkey ssh-rsa {SECRET}",
    f"enable password 7 {SECRET}",
    f"snmp-server community {SECRET} ro",
    f"snmp-server host 192.0.2.1 version 2c {SECRET}",
    f"snmp-server host 192.0.2.1 traps {SECRET}",
    f"snmp-server user joe ops v3 localized {SECRET} auth sha {SECRET} priv aes {SECRET}",
    f"snmp-server engineID local {SECRET}",
    f"radius-server host 192.0.2.1 key 7 {SECRET}",
    f"tacacs-server key {SECRET}",
    f"ntp authentication-key 1 md5 {SECRET}",
    f"router bgp 65000 / neighbor 192.0.2.1 password 7 {SECRET}",
    f"router ospf 1 / area 0 message-digest-key 1 md5 {SECRET}",
    f"ip security / ike policy a / shared-key {SECRET}",
    f"mac security / profile a / passphrase 7 {SECRET}",
    f"daemon TerminAttr / exec /usr/bin/TerminAttr -ingestauth=key,{SECRET}",
    f"management api models / token {SECRET}",
    f"management api models / api_key {SECRET}",
    f"boot config url https://joe:{SECRET}@192.0.2.1/config",
    f"alias up bash curl --user joe:{SECRET} https://192.0.2.1",
]


@pytest.mark.parametrize("line", LINES)
def test_a_secret_in_a_line_of_others_is_neither_kept_nor_shown(line: str) -> None:
    inner = line.rsplit(" / ", 1)[-1]
    shown = [without_secrets(inner), header_of(line), shown_diff(f"+   {inner}\n    {inner}\n-{inner}")]
    assert not [text for text in shown if SECRET in text]


@pytest.mark.parametrize("line", [f"greeting {SECRET} to all", f"{SECRET.upper()} of joe", f"password {SECRET}"])
def test_no_word_has_to_give_a_secret_away(line: str) -> None:
    """As in a banner, or a command that nobody knows yet."""
    assert SECRET not in header_of(f"feature-x y {line}").lower()
    assert SECRET not in shown_diff(f"+   feature-x y {line}").lower()
    assert SECRET not in header_of(f"password {SECRET}")


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("interface Ethernet30/1 / ip address 192.0.2.1/24", "interface Ethernet30/1"),
        ("vlan 7 / trunk group a", "vlan 7"),
        ("qos profile joes / qos trust dscp", "qos profile joes"),
        ("ntp server 192.0.2.1", "ntp server ..."),
        ("no aaa root", "no aaa root"),
        ("snmp-server community public", "snmp-server community ..."),
        ("ip routing", "ip routing"),
        ("! the key is under the mat", "..."),
    ],
)
def test_a_line_of_others_is_shown_by_its_first_words(line: str, shown: str) -> None:
    assert header_of(line) == shown


def test_the_diff_of_the_switch_shows_our_settings_whole() -> None:
    ours = (
        "--- system:/running-config\n+++ session:/ours-session-config\n@@ -1,2 +1,4 @@\n"
        "+vlan 101\n+   name vpod-alice\n interface Ethernet9/1\n-   mtu 9000\n+   switchport access vlan 101\n"
    )
    assert shown_diff(f"{ours}    ip address 192.0.2.1/24\n") == f"{ours}    ip address ...\n"
