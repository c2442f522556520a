# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the files are, and by which first line those of the role slurm are known again. Pure."""

from __future__ import annotations

PROGRAM = "/usr/libexec/ipu-pod/slurm"
PLUGIN = "/usr/lib/ipu-pod/spank_ipu.so"
SETTINGS = "/etc/ipu-pod/slurm.json"
VIPU_CONFIG = "/etc/ipu-pod/slurm-vipu.hcl"
NODE_VIPU_CONFIG = "/etc/vipu/vipu-cli.hcl"
NODE_CERTIFICATES = "/etc/vipu/certs"
STATE = "/var/lib/ipu-pod/slurm"
RUN = "/run/ipu-pod/slurm"

HEADER = "# Written by the role ipu.pod.slurm, which overwrites what is changed here by hand."
# How the collection's Lua files begin that Slurm runs, and the names of those of a site beside them, which ours call.
LUA_HEADER = "-- Copyright (c) The ipu.pod authors"
SCRIPTS = ("job_submit", "cli_filter")


class Paths:
    """The files in the directory of Slurm's configuration."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        # Slurm's own, which includes ours at its end.
        self.slurm_conf = f"{directory}/slurm.conf"
        self.included = f"{directory}/ipu-pod.conf"
        # The generic resources of the nodes, which includes ours.
        self.gres_conf = f"{directory}/gres.conf"
        self.included_gres = f"{directory}/ipu-pod-gres.conf"
        # The SPANK plugins; in most clusters it includes a folder, with ours in it.
        self.plugstack = f"{directory}/plugstack.conf"
        self.all_plugstack = f"{directory}/plugstack.conf.d/*.conf"
        self.included_plugstack = f"{directory}/plugstack.conf.d/ipu-pod.conf"
        # The data of the Lua files.
        self.lua = f"{directory}/ipu-pod.lua"

    def script(self, name: str) -> str:
        """A Lua file that Slurm runs."""
        return f"{self.directory}/{name}.lua"

    def site_script(self, name: str) -> str:
        """The site's own Lua file, which ours calls."""
        return f"{self.directory}/{name}.site.lua"
