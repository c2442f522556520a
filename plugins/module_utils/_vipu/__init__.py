# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""V-IPU: what a controller holds, the plan that changes it, and the clients that ask it. Open :mod:`.fields` first.

``fields`` is the table of everything that can be declared or read, ``dialect`` what the programs understand.
``planner`` makes the steps, by the rules in ``rules``, ``relations`` and ``sizes``; ``engine`` carries them out.
``cli`` and ``user_service`` are the clients; ``ipuof`` plans the files by which Poplar finds partitions.
``controller_storage`` compares a backup of a controller's storage with the present one.
"""
