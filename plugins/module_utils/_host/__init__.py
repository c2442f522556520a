# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What modules need from any Linux host: files that are read, compared and replaced as a whole."""
