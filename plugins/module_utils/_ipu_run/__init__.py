# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""ipu-run: containers that have IPUs of their own for as long as they run.

:mod:`.arguments` reads the command line, :mod:`.runs` starts a container, :mod:`.released` frees the IPUs of those that
have ended, and :mod:`.registry` is who has what.
"""
