# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Devices in this process, for tests without processes and ports: a kernel, servers, switches, controllers, a pod."""
