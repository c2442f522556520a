# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts for people, whatever they are about: how they are laid out, and what to do where a device is not reached."""
