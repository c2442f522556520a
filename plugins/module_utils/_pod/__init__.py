# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the owner of a pod declared, and all that follows: addresses, ports, placement, desired state. Pure."""
