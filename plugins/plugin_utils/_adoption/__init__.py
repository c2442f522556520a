# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what a pod in service is to the pods.yml that keeps it so. Pure."""
