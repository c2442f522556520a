# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tools of modules for any Linux host.

``files`` reads and writes whole files with owner and mode, ``store`` small ones in a directory of our own. Both, and
all others, write through ``atomic``: beside the place, synced, renamed into it. ``lock`` is the one lock among
processes. ``programs`` runs the host's programs.
"""
