# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a pod in service to the pods.yml that keeps it as it is, and what contradicts itself there. Pure.

Begin with ``fleet``: everything that was read becomes one pods.yml, by ``controllers``, ``servers`` and ``switches``.
They say what they find to ``adoption``, which never takes what the declaration would refuse. ``findings`` is the other
half: what the layers say against each other, each with both places and the remedy.
"""
