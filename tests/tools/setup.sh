#!/usr/bin/env bash
# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Prepares .venv in the checkout: the tools, the simulated pod's programs, and the collection itself.
set -euo pipefail
cd "$(dirname "$0")/../.."

refuse() {
    echo "setup: $1" >&2
    exit 1
}

# The distribution's own is built with optimisation; one that somebody has built beside it is often a quarter slower.
if [[ -z ${PYTHON:-} ]] && /usr/bin/python3 -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' \
    2>/dev/null; then
    PYTHON=/usr/bin/python3
fi
python=${PYTHON:-python3}

command -v "$python" >/dev/null ||
    refuse "no program $python; install Python 3.11 or later, e.g. apt-get install python3 python3-venv"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    refuse "$("$python" --version) is too old; install Python 3.11 or later and say: make setup PYTHON=python3.11"
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
    refuse "$python has no venv module; install it, e.g. apt-get install python3-venv"

echo "Preparing .venv with $("$python" --version) (a few minutes the first time)"
"$python" -m venv .venv
.venv/bin/pip install -qq --disable-pip-version-check 'pip>=25.1'
# setuptools warns of folders named podsim beside the installed one; there are none.
PYTHONWARNINGS=ignore \
    .venv/bin/pip install -qq --disable-pip-version-check --group dev --editable simulator

# Beside it the newest ansible-core, where this machine has a Python for it: as python3.13, or among pyenv's.
rm -rf .venv/newest
if PYENV_VERSION=3.13 python3.13 -m venv --without-pip .venv/newest 2>/dev/null; then
    # Not compiled: hardly any of the collections that it carries is used here.
    .venv/bin/pip --python .venv/newest/bin/python install -qq --disable-pip-version-check --no-compile --group newest
else
    rm -rf .venv/newest
    echo "setup: no python3.13 on this machine; what is tested with the newest ansible-core will be skipped" >&2
fi

# Compiled now, so that a later `sudo podsim` leaves no files of root in the checkout.
.venv/bin/python -m compileall -q simulator/podsim

# ansible.cfg names .venv/collections. Links to the parts: one link to the whole checkout would contain itself.
collection=.venv/collections/ansible_collections/ipu/pod
rm -rf .venv/collections
mkdir -p "$collection"
for part in README.md docs galaxy.yml meta playbooks plugins roles; do
    ln -s "../../../../../$part" "$collection/$part"
done

touch .venv/ready
