#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Configure IPUoF on a Poplar server."""

from __future__ import annotations

DOCUMENTATION = r"""
module: ipuof_config
short_description: IPUoF environment or configuration files of a Poplar server
version_added: 1.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Tells the programs on a Poplar server which partitions of which V-IPU controller they may use, by environment
    variables or by IPUoF configuration files.
  - The list is the whole truth. Files of this module that belong to partitions which are no longer in it are removed;
    files of others are never touched, and one that stands in the way is refused with its name.
  - Talks to no controller. It gets everything as options.
extends_documentation_fragment: ipu.pod._attributes
requirements:
  - the right to write in C(/etc), usually root
options:
  partitions:
    description:
      - The partitions that this server uses. An empty list removes all files of this module.
      - A partition that is listed with several GCDs has one file for each of them.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Id of the partition, at most 64 letters, digits, dots, dashes and underscores.
        type: str
        required: true
      api_host: {description: Name or address of the V-IPU controller's user end-point., type: str, required: true}
      api_port: {description: Its TCP port., type: int, default: 8090}
      gcd: {description: "Number of the graph compile domain that runs on this server, from 0.", type: int, default: 0}
  configurations:
    description:
      - Partition name to a list with the IPUoF configuration of each of its GCDs, as the controller renders them and
        M(ipu.pod.vipu_info) returns them. Needed for O(mode=files) only.
      - In check mode a partition may be missing, because it is yet to be created. Its files are then predicted
        to be written, whatever is there, and the content is left out of RV(after) and RV(diff).
    type: dict
    default: {}
  mode:
    description:
      - V(environment) writes C(/etc/profile.d/ipuof.sh) for login shells, and for each partition
        C(/etc/ipuof.env.d/PARTITION.env) in the form that C(EnvironmentFile=) of systemd and C(docker --env-file) take.
        With several GCDs of a partition they are called C(PARTITION_gcdN.env).
        Poplar then gets its configuration from the controller.
      - V(files) writes C(/etc/ipuof.conf.d/PARTITION_ipuof.conf), or C(PARTITION_gcdN_ipuof.conf) with several GCDs.
        Poplar then needs no controller, but the files have to be written again when a partition has moved.
      - Files of the other mode are removed.
    type: str
    choices: [environment, files]
    default: environment
  login_partition:
    description:
      - Name of the partition that login shells use. The first in O(partitions) if not given.
      - Only for O(mode=environment).
    type: str
  owner: {description: User that the files belong to., type: str, default: root}
  group: {description: Group that the files belong to., type: str, default: root}
  file_mode: {description: "Permissions of the files, as four octal digits in quotes.", type: str, default: "0644"}
"""

EXAMPLES = r"""
- name: Use partition train in login shells, and let services choose between both
  ipu.pod.ipuof_config:
    partitions:
      - {name: train, api_host: 10.3.1.200}
      - {name: serve, api_host: 10.3.1.200}

- name: Write what ipu.pod.vipu_info has read as files for two GCDs, readable for one group only
  ipu.pod.ipuof_config:
    mode: files
    group: poplar
    file_mode: "0640"
    partitions:
      - {name: train, api_host: 10.3.1.200, gcd: 0}
      - {name: train, api_host: 10.3.1.200, gcd: 1}
    configurations: "{{ controller.ipuof_configurations }}"

- name: Remove all partitions from this server
  ipu.pod.ipuof_config:
    partitions: []
"""

RETURN = r"""
before:
  description:
    - This module's files as they were, under C(file) by path, each with C(content) as a list of lines, C(owner),
      C(group) and C(mode).
    - Under C(foreign_file) the paths of other files in the same places, without any field.
  returned: when not refused
  type: dict
  sample:
    file:
      /etc/ipuof.env.d/train.env:
        {content: [IPUOF_VIPU_API_HOST=10.3.1.200, IPUOF_VIPU_API_PORT=8090], owner: root, group: root, mode: "0644"}
    foreign_file: {/etc/ipuof.conf.d/of_others.conf: {}}
after:
  description: The same as RV(before) after the change, read again. In check mode what it would be.
  returned: when not refused
  type: dict
diff: {description: The fields of RV(before) and RV(after) that differ., returned: when not refused, type: dict}
plan:
  description: The ordered steps, one per file, each with action, kind, name (the path), reason and risk.
  returned: when not refused
  type: list
  elements: dict
  sample: [{action: create, kind: file, name: /etc/ipuof.env.d/train.env, reason: is missing, risk: none}]
done: {description: The steps done before the failed one., returned: when a step failed, type: list, elements: dict}
failed_step: {description: "The step that failed, with its C(error).", returned: when a step failed, type: dict}
not_tried: {description: The steps after the one that failed., returned: when a step failed, type: list, elements: dict}
"""

from functools import partial

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._host.files import Files, check_ownership
from ansible_collections.ipu.pod.plugins.module_utils._plan import module as edge
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused, one_by_one
from ansible_collections.ipu.pod.plugins.module_utils._vipu import ipuof
from ansible_collections.ipu.pod.plugins.module_utils._vipu.ipuof_files import IpuofFiles

ARGUMENTS = {
    "partitions": {
        "type": "list",
        "elements": "dict",
        "required": True,
        "options": {
            "name": {"type": "str", "required": True},
            "api_host": {"type": "str", "required": True},
            "api_port": {"type": "int", "default": 8090},
            "gcd": {"type": "int", "default": 0},
        },
    },
    "configurations": {"type": "dict", "default": {}},
    "mode": {"type": "str", "choices": ["environment", "files"], "default": "environment"},
    "login_partition": {"type": "str"},
    "owner": {"type": "str", "default": "root"},
    "group": {"type": "str", "default": "root"},
    "file_mode": {"type": "str", "default": "0644"},
}


def main() -> None:
    """Converge on what is declared."""
    module = AnsibleModule(ARGUMENTS, supports_check_mode=True)
    options = module.params
    ownership = ipuof.Ownership(options["owner"], options["group"], options["file_mode"])
    try:
        check_ownership(ownership.owner, ownership.group, ownership.mode)
        wanted = ipuof.wanted_files(options, predict=module.check_mode)
    except Refused as error:
        module.fail_json(msg=str(error), changed=False)
    store = IpuofFiles(Files())
    edge.run(module, store.read, partial(ipuof.plan, wanted, ownership), one_by_one(store.carry_out))


if __name__ == "__main__":
    main()
