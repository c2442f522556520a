# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the control node itself reads of a device, over a connection that Ansible keeps."""
