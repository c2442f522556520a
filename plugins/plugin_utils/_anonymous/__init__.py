# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The answers of a site's devices, without anything that says whose they are.

``addresses`` has stand-ins for addresses, ``words`` for names and all other words that are not those of the systems
themselves (``vocabulary``); ``archive`` puts the records of all devices together.
"""
