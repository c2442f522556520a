#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the Slurm installation of a host."""

from __future__ import annotations

DOCUMENTATION = r"""
module: slurm_info
short_description: Read the Slurm installation of a host
description:
  - Reads slurm.conf with the files that it includes, and says who wrote what the role P(ipu.pod.slurm#role) adds to.
    Changes nothing.
version_added: 1.0.0
author: The ipu.pod authors (@ipu-pod)
extends_documentation_fragment: ipu.pod._attributes.reads
options:
  directory: {description: The directory of Slurm's configuration., type: path, default: /etc/slurm}
"""

EXAMPLES = r"""
- name: Read the installed Slurm
  ipu.pod.slurm_info:
  register: slurm
"""

RETURN = r"""
site:
  description: What was found.
  returned: always
  type: dict
  contains:
    slurm_conf: {description: "Who wrote slurm.conf, V(role) or V(site); empty where there is none.", type: str}
    included: {description: Whether what the role lets slurm.conf include is there., type: bool}
    user: {description: Who Slurm's controller runs as., type: str}
    values:
      description:
        - What slurm.conf says of the settings that the role adds to, by their names. What the role itself includes
          there does not count.
      type: dict
    nodes: {description: "Slurm's nodes, each with its C(Gres).", type: dict}
    features: {description: "Slurm's nodes, each with its C(Feature).", type: dict}
    plugins_included: {description: Whether plugstack.conf includes all that is in its folder., type: bool}
    gres_included: {description: Whether gres.conf includes what the role writes for it., type: bool}
    gres_empty: {description: "Whether there is an empty gres.conf, which is an error to Slurm.", type: bool}
    overridden:
      description: Settings of RV(site.values) that slurm.conf has after the line that includes those of the role.
      type: list
      elements: str
    scripts: {description: "Who wrote C(job_submit.lua) and C(cli_filter.lua), as RV(site.slurm_conf).", type: dict}
    site_scripts:
      description: For which of RV(site.scripts) the site's own is kept beside that of the role.
      type: list
      elements: str
    version: {description: The version of Slurm that plugins are built for; empty without its headers., type: str}
  sample:
    slurm_conf: site
    included: false
    user: slurm
    values: {Prolog: /etc/slurm/prolog.sh, Licenses: "matlab:4"}
    nodes: {pod001-poplar1: "gpu:2"}
    features: {pod001-poplar1: "fast"}
    plugins_included: true
    gres_included: false
    gres_empty: false
    overridden: []
    scripts: {job_submit: site, cli_filter: ""}
    site_scripts: []
    version: 22.05.8
vipu_programs:
  description: The programs of V-IPU that Slurm's hooks find.
  returned: always
  type: list
  elements: str
  sample: [vipu-admin, vipu]
plugin_built: {description: Whether the role's SPANK plugin has been built., returned: always, type: bool, sample: true}
outdated:
  description: The daemons of Slurm that started before the role has last written what they read then.
  returned: always
  type: list
  elements: str
  sample: [slurmd.service]
"""

import os
import shutil
import time

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._host.programs import SEARCH_PATH
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused
from ansible_collections.ipu.pod.plugins.module_utils._slurm_host.paths import Paths
from ansible_collections.ipu.pod.plugins.module_utils._slurm_host.site import ROLE, Site, site_from

VIPU_PROGRAMS = ("vipu-admin", "vipu")
PLUGIN = "/usr/lib/ipu-pod/spank_ipu.so"
UNITS = ("slurmctld.service", "slurmd.service")


def read(path: str) -> str | None:
    """A file's text; None where there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise DeviceError(f"{path} cannot be read: {error}") from error


def written(site: Site, paths: Paths) -> float:
    """When the role has last written what daemons read when they start, in seconds since 1970; 0 if it never has."""
    ours = (paths.included, paths.included_gres, *([paths.slurm_conf] if site.slurm_conf == ROLE else []))
    return max((os.path.getmtime(path) for path in ours if os.path.exists(path)), default=0)


def started(module: AnsibleModule, unit: str) -> float:
    """When a service has started, in seconds since 1970; something before that if it never has."""
    _status, output, _errors = module.run_command(
        ["systemctl", "show", unit, "--property=ActiveEnterTimestampMonotonic", "--value"]
    )
    return time.time() - time.monotonic() + int(output.strip() or 0) / 1e6


def main() -> None:
    """Look and tell."""
    module = AnsibleModule({"directory": {"type": "path", "default": "/etc/slurm"}}, supports_check_mode=True)
    paths = Paths(module.params["directory"])
    try:
        site = site_from(read, paths.directory)
    except (Refused, DeviceError) as error:
        module.fail_json(msg=str(error), changed=False)
    last = written(site, paths)
    outdated = [unit for unit in UNITS if started(module, unit) < last]
    found = [program for program in VIPU_PROGRAMS if shutil.which(program, path=SEARCH_PATH)]
    built = os.path.exists(PLUGIN)
    module.exit_json(changed=False, site=site.public(), outdated=outdated, vipu_programs=found, plugin_built=built)


if __name__ == "__main__":
    main()
