# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""V-IPU: the entities and their rules, what an installation can do, and the clients."""
