# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""V-IPU: what a controller holds, the rules for it, and the clients.

Begin with :mod:`entities`. :mod:`planner` (pure) makes steps of what is :mod:`declared`, :mod:`engine` carries them
out. What an installed release understands and prints is data in :mod:`dialect`. Clients are :mod:`cli` and
:mod:`user_service` (gRPC).
"""
