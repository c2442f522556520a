#!/bin/sh
# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# One playbook on a fleet: a job for each cluster, side by side on worker machines, and one report at the end.
#
#   run.sh SITE PLAYBOOK RESULTS LIMIT WORKER [LIMIT WORKER]...
#
# SITE is a directory of ansible-runner: inventory/, project/ with its ansible.cfg, env/. PLAYBOOK is one of the
# collection, such as ipu.pod.site. Each LIMIT is a job, the pods of a cluster, for example pod001,pod002; WORKER is the
# command that runs `ansible-runner worker` for it, for example "ssh worker1 ipu-worker". RESULTS/artifacts gets a
# directory for each job. Ends with 0 when every job is done, else with 2.
set -eu

site=${1:?"say which site"}
playbook=${2:?"say which playbook, for example ipu.pod.site"}
results=${3:?"say where the results go"}
shift 3

# Old results must not be taken for these.
if [ -e "$results/artifacts" ]; then
    echo "$results has results of another run; name another directory" >&2
    exit 2
fi

while [ $# -ge 2 ]; do
    mkdir -p "$results/artifacts/$1"
    ansible-runner transmit "$site" --playbook "$playbook" --limit "$1" |
        sh -c "$2" |
        ansible-runner process "$results" --ident "$1" >/dev/null &
    shift 2
done
wait

exec python3 "$(dirname "$0")/report.py" "$results/artifacts"
