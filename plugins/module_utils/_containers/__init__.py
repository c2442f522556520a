# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The networks by which containers on a server have RNIC addresses of their own, in podman and Docker.

``networks`` makes the steps between what is wanted and what is there; ``engines`` asks the container engines, and
does it.
"""
