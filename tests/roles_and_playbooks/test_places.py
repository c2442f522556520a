# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A controller that chooses the IPU-Machines of an allocation itself: the switch follows it, in the same run."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from tests.roles_and_playbooks.vpods_bed import running_bed, vpod
from tests.support.simulated_tor import running_tor

# `create allocation --agents` came with 1.18.0.
OLDER = """\
cd $(dirname $(command -v vipu-admin))
mv vipu-admin newer-vipu-admin
echo '#!/bin/sh\nPODSIM_VIPU_RELEASE=1.17.0 exec '$PWD'/newer-vipu-admin "$@"' >vipu-admin
chmod +x vipu-admin
"""


def test_the_ports_follow_what_the_controller_has_given(tmp_path: Path) -> None:
    (tmp_path / "tor").mkdir()
    with running_bed(tmp_path) as bed, running_tor(tmp_path / "tor") as tor:
        (bed.inventory / "host_vars").mkdir()
        (bed.inventory / "host_vars" / "p-tor.yml").write_text(yaml.safe_dump(tor.connection))
        bed.managed = ("controller", "switch")
        assert bed.run().messages == ""
        # Next to this one we would put another; the controller takes the first place.
        bed.server.sh("vipu-admin create allocation theirs --agents p-ipum9")
        bed.server.sh(OLDER)

        alice = vpod(101, controller=None)
        made = bed.run(alice=alice)
        assert made.messages == ""
        assert bed.machines_of("alice") == ["p-ipum1", "p-ipum2"]
        assert in_vlan_101(tmp_path / "tor") == ["9/1", "10/1"]
        assert bed.held("", "partitions") == ["train"]
        assert bed.run(alice=alice).reported[-1].startswith("nothing changed; ")


def in_vlan_101(tor: Path) -> list[str]:
    """The ports that are in alice's VLAN."""
    ports = (tor / "running-config").read_text().split("interface Ethernet")[1:]
    return [re.split(r"\s", port)[0] for port in ports if "switchport access vlan 101\n" in port]
