# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From pods.yml to a declaration without contradictions. Pure.

Open ``keys.py`` first: every key that may stand in the file, with its values, its default and meaning; values that
are MAC addresses, ports, VLANs or RoCE are in ``network_kinds.py``. ``declaration.py`` checks a document against the
keys and builds the model (``_pod/model.py``) of it. ``consistency.py`` and its two parts refuse what cannot be true
at the same time. ``positions.py`` finds the line of a refusal, ``documentation.py`` makes tables, options and a JSON
Schema.
"""
