#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name, which does all of it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: wanted
short_description: The files, links and units that a role of this collection writes to a host
description:
  - Returns the files, directories, links, units, packages, users and kernel parameters that a role writes to the host,
    from the role's variables, for tasks that write them with ordinary modules, as M(ipu.pod.differing) shows.
  - A plan compares the same with what is on the host. So what a role writes stands in one place.
  - Asks no host, and changes nothing.
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
extends_documentation_fragment: ipu.pod._attributes.reads
options:
  role: {description: The role., type: str, required: true, choices: [poplar_server, vipu_controller, vpod, containers]}
  vpod:
    description:
      - The vPOD whose dedicated V-IPU controller is meant, with O(role=vipu_controller) alone. Without it, that of the
        cluster is.
    type: str
  seen:
    description:
      - C(parts.things) of M(ipu.pod.host_look), with O(role=vipu_controller) alone, for the controller's unit and
        storage in C(paths) and its unit in C(texts). A controller that is there keeps its user. Without it, there is
        none yet.
    type: dict
"""

EXAMPLES = r"""
- name: Work out what the server gets
  ipu.pod.wanted:
    role: poplar_server
  register: poplar_server_wanted
"""

RETURN = r"""
files:
  description:
    - Files, each with C(path), C(content), C(owner), C(group) and C(mode), octal. Secret ones are in RV(secret_files).
  returned: always
  type: list
  elements: dict
  sample: [{path: /etc/ipu-pod/motd, content: "One pod, four servers.\n", owner: root, group: root, mode: "0644"}]
secret_files:
  description:
    - Secret files, in the form of RV(files), with C(source), where another host has the secret.
    - The content has "(secret)" in the place of the secret, and is null where all of it is secret.
  returned: always
  type: list
  elements: dict
directories:
  description: Directories, each with C(path), C(owner), C(group) and C(mode).
  returned: always
  type: list
  elements: dict
  sample: [{path: /etc/systemd/system/slurmd.service.d, owner: root, group: root, mode: "0755"}]
links: {description: "Symbolic links, each with C(path) and C(target).", returned: always, type: list, elements: dict}
absent: {description: Paths where nothing shall be., returned: always, type: list, elements: str, sample: []}
units:
  description:
    - systemd units, each with C(name), C(enabled), C(state) as in M(ansible.builtin.systemd_service), null where that
      is not managed, and C(restarted_by), the files whose change restarts it.
  returned: always
  type: list
  elements: dict
  sample: [{name: systemd-networkd.service, enabled: true, state: started, restarted_by: []}]
packages: {description: Packages whose names do not depend on the OS., returned: always, type: list, elements: str}
packages_by_os_family:
  description: Names of the others, by OS family as in C(ansible_facts.os_family).
  returned: always
  type: dict
  sample: {Debian: [rdma-core, iproute2], RedHat: [rdma-core, iproute]}
kernel_parameters: {description: Kernel parameter to its value., returned: always, type: dict}
accounts:
  description: System users that run a service, each with C(name), also that of its group, and C(home).
  returned: always
  type: list
  elements: dict
  sample: [{name: vipu-server, home: /var/lib/vipu}]
account:
  description: The name of the controller's own user, whether it has one or not.
  returned: with O(role=vipu_controller)
  type: str
  sample: vipu-server
user: {description: The user that the controller is to run as., returned: with O(role=vipu_controller), type: str}
user_there:
  description: The user that it runs as according to O(seen), empty where there is no controller yet.
  returned: with O(role=vipu_controller)
  type: str
"""
