# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ToR switch: EOS configuration read and planned (pure), and changed in sessions that undo themselves.

Begin with ``plan``. An EOS setting is a line of data in ``settings``. ``running_config`` parses, ``commands`` writes;
``session`` speaks to the switch, and commits with a timer that ``confirmation`` stops if all is well.
"""
