#!/bin/sh
# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# At night: is the pod still what pods.yml says? Changes nothing on the pod.
#
#   nightly.sh INVENTORY [DIRECTORY]
#
# Writes junit.xml, drift.json and drift.md into DIRECTORY (default: drift). Ends with 0 if everything is as declared,
# with 2 if something has drifted, with 1 if something could not be looked at.
set -eu

inventory=${1:?"say which inventory, for example inventories/pod64"}
directory=${2:-drift}
case $directory in /*) ;; *) directory=$PWD/$directory ;; esac

# An old report must not be taken for this one.
rm -f "$directory/junit.xml" "$directory/drift.json" "$directory/drift.md"

ansible-playbook -i "$inventory" ipu.pod.drift -e "drift_directory=$directory"
