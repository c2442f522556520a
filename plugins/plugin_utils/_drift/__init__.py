# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Declared against actual: what drifted, what its owner knows of, and what is nobody's business. Pure."""
