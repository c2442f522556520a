# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The answers of a device, recorded while it is looked at, and replayed later where there is no device.

``recording`` keeps what is asked and answered, ``replay`` answers from that. ``host`` and ``switch`` say what is asked
of a device and what is understood of it; both work on a device and on its recording alike.
"""
