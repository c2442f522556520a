# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first line of every file that the role pod_services writes."""

from __future__ import annotations

HEADER = "# Written by the role ipu.pod.pod_services, which overwrites what is changed here by hand."
