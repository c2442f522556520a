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

version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
lock=tests/tools/locks/dev-$version.txt
[[ -e $lock ]] ||
    refuse "there is no $lock; use a Python that has one, or add it to tests/tools/lock.py and say: make lock"
locked=(-qq --disable-pip-version-check --no-deps --no-build-isolation --require-hashes)

echo "Preparing .venv with $("$python" --version) (a few minutes the first time)"
echo "  tools, Ansible and the simulated pod's programs"
"$python" -m venv .venv
# Nothing but the files whose hashes are in the locks is installed, or builds what is installed from source.
.venv/bin/pip install "${locked[@]}" --requirement tests/tools/locks/build.txt
.venv/bin/pip install "${locked[@]}" --requirement "$lock"
# setuptools warns of folders named podsim beside the installed one; there are none.
PYTHONWARNINGS=ignore .venv/bin/pip install -qq --disable-pip-version-check --no-deps --no-build-isolation \
    --editable simulator

# Beside it the newest ansible-core, where this machine has a Python for it: as python3.13, or among pyenv's.
rm -rf .venv/newest
if PYENV_VERSION=3.13 python3.13 -m venv --without-pip .venv/newest 2>/dev/null; then
    echo "  the newest ansible-core beside them"
    # Not compiled: hardly any of the collections that it carries is used here.
    .venv/bin/pip --python .venv/newest/bin/python install "${locked[@]}" --no-compile \
        --requirement tests/tools/locks/newest-3.13.txt
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
