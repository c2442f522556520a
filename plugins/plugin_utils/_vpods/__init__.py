# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The changes of vPODs in a run: create, grow, move, remove, and whose running work that would end. Pure.

Begin with ``changes``. ``teardown`` is what goes before anything comes up, in the reverse order of the bring-up.
``interruptions`` refuses what would end running work, ``strays`` are devices in a vPOD's VLAN that are not its, and
``scope`` is the desired state of some vPODs alone.
"""
