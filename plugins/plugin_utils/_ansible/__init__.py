# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible's side of the plugins on the control node, and the files of a run. The one room that knows Ansible.

Begin with ``pods_file``, the pods.yml of the inventory. ``role_variables`` are the settings of a host, ``run_folder``
is where the looks and the plan of a run are kept, ``this_run`` says who and which process runs, ``action`` is what
action plugins share, ``program_file`` what those share that copy a program, ``persistent_connection`` ends the
connection to a switch with its task, ``written_files`` writes what a run leaves.
"""
