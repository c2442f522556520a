# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who changes a pod: one run at a time, and a record of what each did.

``run`` tells one run from all others; ``lock`` decides who gets a pod's lock; ``records`` is what was done, run by run.
The files of both are in a store of ``_host``, on a host that all control nodes reach.
"""
