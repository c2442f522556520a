# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the files are, and by which first line those of the role slurm are known again. Pure."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True)
class Paths:
    """The files in the directory of Slurm's configuration."""

    directory: str

    @property
    def slurm_conf(self) -> str:
        """Slurm's own; it includes ours at its end."""
        return f"{self.directory}/slurm.conf"

    @property
    def included(self) -> str:
        """The file of ours that it includes."""
        return f"{self.directory}/ipu-pod.conf"

    @property
    def gres_conf(self) -> str:
        """The generic resources of the nodes; it includes ours."""
        return f"{self.directory}/gres.conf"

    @property
    def included_gres(self) -> str:
        """The file of ours that it includes."""
        return f"{self.directory}/ipu-pod-gres.conf"

    @property
    def plugstack(self) -> str:
        """The SPANK plugins; it includes those of a folder."""
        return f"{self.directory}/plugstack.conf"

    @property
    def all_plugstack(self) -> str:
        """The files that it includes in most clusters."""
        return f"{self.directory}/plugstack.conf.d/*.conf"

    @property
    def included_plugstack(self) -> str:
        """Ours in this folder."""
        return f"{self.directory}/plugstack.conf.d/ipu-pod.conf"

    @property
    def lua(self) -> str:
        """The data of the Lua files."""
        return f"{self.directory}/ipu-pod.lua"

    def script(self, name: str) -> str:
        """A Lua file that Slurm runs."""
        return f"{self.directory}/{name}.lua"

    def site_script(self, name: str) -> str:
        """The site's own Lua file, which ours calls."""
        return f"{self.directory}/{name}.site.lua"
