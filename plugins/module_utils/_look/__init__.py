# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One look at a device: everything that any layer compares, part by part, each thing asked for once. Changes nothing.

Begin with :mod:`host`, or with :mod:`switch` for EOS. A part that cannot be read says why (:mod:`parts`); the others
stay.
"""
