# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts for people, whatever they are about.

``line`` makes what others have written fit to be shown, ``table`` lays it out, ``remedy`` says what to do where a
device is not reached.
"""
