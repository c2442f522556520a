# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of the modules that change a V-IPU controller. Private to the collection."""

from __future__ import annotations

from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import AGENT, ALLOCATION, CLUSTER, PARTITION, USER
from ansible_collections.ipu.pod.plugins.module_utils._vipu.options import documentation


class ModuleDocFragment:
    """The options of :mod:`_vipu.options`: what all of these modules take, and one fragment per kind of entity."""

    DOCUMENTATION = r"""
options:
  allow_recreate:
    description:
      - V-IPU has no command that changes an entity. One that is there with other fields is refused, unless this is set.
        Then it is removed and created again, with everything that depends on it, and whatever runs on partitions that
        die is lost. The plan names them.
      - What depends on it and is not declared would not come back, so then it is refused all the same.
      - What is not declared of an entity is chosen anew by the controller.
    type: bool
    default: false
  wait_timeout:
    description:
      - How long one command of the controller, and then the way of declared partitions to C(ACTIVE), may take, in
        seconds.
    type: int
    default: 120
  lock_timeout:
    description: How long to wait, in seconds, for another run that changes the same controller from this host.
    type: int
    default: 0
  new_controller:
    description:
      - The same run installs the controller. Only in check mode does this matter, the controller may then be missing
        and is taken to hold nothing. Otherwise a controller that does not answer is an error.
    type: bool
    default: false
  predicted:
    description:
      - What earlier tasks of the same run have made of the controller, as the C(after) that they returned.
      - Only in check mode does this matter, where they have not; it then counts instead of what is read.
    type: dict
    default: {}
"""

    # One for each kind of entity, by the table of their fields. The annotation marks them as made, not written, which
    # ansible-test's yamllint takes plain assignments for.
    AGENTS: str = documentation(AGENT)
    CLUSTERS: str = documentation(CLUSTER)
    ALLOCATIONS: str = documentation(ALLOCATION)
    USERS: str = documentation(USER)
    PARTITIONS: str = documentation(PARTITION)

    # Where the access keys of new users go.
    KEYS = r"""
options:
  key_directory:
    description:
      - Directory on the host that the module runs on. The access key of each new user goes into a file C(NAME.key) in
        it, mode 0600. A missing directory is made, mode 0700.
      - A declared user who was there before and whose file is missing is named in a warning, as the key cannot
        be read again.
    type: path
  return_keys:
    description: Return the access keys of new users in RV(ignore:access_keys). The task has to set C(no_log) then.
    type: bool
    default: false
"""

    # How strictly the sizes of partitions are taken.
    SIZES = r"""
options:
  strict_sizes:
    description: Follow the vendor's lists of sizes to the letter. They leave out 32 IPUs for partitions and GCDs.
    type: bool
    default: false
  any_replica_size:
    description: Let an explicit number of replicas give them any number of IPUs, instead of 1, 2 or 4.
    type: bool
    default: false
"""
