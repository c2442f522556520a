#!/bin/sh
# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# On merge: carries out the plan that was read, exactly, or refuses it before the first step.
#
#   merge.sh INVENTORY [PLAN]
#
# PLAN is the plan.json that merge_request.sh has written (default: plan/plan.json). Ends with 0 when every step is
# done; with 2 when the plan is refused (nothing is touched, and the output says what has moved) or a step failed;
# with 4 when a device was lost while the plan was carried out.
set -eu

inventory=${1:?"say which inventory, for example inventories/pod64"}
plan=${2:-plan/plan.json}

ansible-playbook -i "$inventory" ipu.pod.apply -e "plan=$plan"
