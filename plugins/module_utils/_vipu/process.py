# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running one of V-IPU's programs, for so long and no longer."""

from __future__ import annotations

import os
import subprocess
from typing import Mapping, Sequence

# As the programs timeout and sh have it.
TIMED_OUT, NOT_FOUND = 124, 127


def run_program(
    argv: Sequence[str], limit: float, directory: str, environment: Mapping[str, str]
) -> tuple[int, str, str]:
    """Run a program and return its exit code, output and errors.

    Args:
        argv: the program and its arguments.
        limit: seconds after which it is ended.
        directory: its working directory; ``vipu-admin create user`` leaves a file with the access key there.
        environment: variables on top of this process's own.
    """
    try:
        done = subprocess.run(
            list(argv),
            cwd=directory,
            env={**os.environ, "LC_ALL": "C.UTF-8", **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return TIMED_OUT, "", f"no end after {limit:g} s; look at the controller's log, or raise wait_timeout"
    except OSError as error:
        return NOT_FOUND, "", f"{argv[0]}: {error.strerror}; install the V-IPU programs or set the option program"
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
