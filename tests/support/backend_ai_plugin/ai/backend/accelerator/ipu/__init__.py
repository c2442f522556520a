# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""IPUs for the agent of Backend.AI, by the published contract of Lablup's plugin, which is on no package index.

It has the name, the settings and the slots of that one, and gives a container the same things, so what is set up for
the one serves the other. It was written for the tests of ipu.pod, and only the tests use it.
"""
