#!/bin/sh
# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# On a merge request: what would this change of pods.yml do? Changes nothing on the pod.
#
#   merge_request.sh INVENTORY [DIRECTORY]
#
# Writes plan.md (for a comment), plan.html (to look at) and plan.json (for merge.sh) into DIRECTORY (default: plan).
# Ends with 0 when the plan is made, whether or not there is something to do; with 2, and without a plan, when pods.yml
# is refused or the plan could not be made.
set -eu

inventory=${1:?"say which inventory, for example inventories/pod64"}
directory=${2:-plan}
case $directory in /*) ;; *) directory=$PWD/$directory ;; esac

# An old plan must not be taken for this one.
rm -f "$directory/plan.json" "$directory/plan.md" "$directory/plan.html"

ansible-playbook ipu.pod.validate -e "pods=$inventory/pods.yml"
ansible-playbook -i "$inventory" ipu.pod.plan -e "plan_directory=$directory"
