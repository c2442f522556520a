# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One look at a host: everything that any layer compares, part by part, each thing asked for once.

``host`` has the parts; what is more than one call of a client has a file: ``use`` (who would be disturbed), ``things``
(files, units, packages) and ``controllers``. ``once`` runs each program once for all of them.
"""
