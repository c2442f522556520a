# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who changes a pod: one run at a time, and a record of what each did, beside the V-IPU controller.

Begin with :mod:`lock`; :mod:`records` is the history, :mod:`directory` where both are kept.
"""
