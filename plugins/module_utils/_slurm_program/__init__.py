# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program that Slurm runs for each job so that it has IPUs, shipped to hosts as one file.

``program`` is its entry and finds out what it was started for: ``hooks`` on the Slurm controller, also for the timer
that reaps, ``node`` on a node, or the ``report`` of ipuinfo. Of the four ways in which jobs get IPUs (``ways``) each
has a file: ``dynamic``, ``static``, ``mapping``, ``reconfigurable``. The file holds this package and all that it
imports.
"""
