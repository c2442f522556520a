# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role's job_submit.lua in a Lua of this process, with what slurmctld gives it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lupa import lua51

from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.settings import Settings
from ansible_collections.ipu.pod.plugins.plugin_utils._slurm_files.lua import lua_of
from tests.support.checkout import ROOT

SCRIPT = ROOT / "roles" / "slurm" / "files" / "job_submit.lua"
SUCCESS, ERROR, ACCESS_DENIED = 0, -1, 2002
CONSTANTS = {
    "SUCCESS": SUCCESS,
    "ERROR": ERROR,
    "ESLURM_ACCESS_DENIED": ACCESS_DENIED,
    "NO_VAL": 0xFFFFFFFE,
    "NO_VAL16": 0xFFFE,
}
OWNER = 1000


@dataclass
class JobSubmit:
    """The script with these settings; ``told`` is what users read, ``failed`` what slurmctld's log has."""

    folder: Path
    settings: Settings
    told: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        script = shutil.copy(SCRIPT, self.folder)
        (self.folder / "ipu-pod.lua").write_text(lua_of(self.settings))
        self._lua = lua51.LuaRuntime(encoding="latin-1")
        says = {"log_user": lambda _form, text: self.told.append(text)}
        logs = {"log_error": lambda _form, text: self.failed.append(text)}
        self._lua.globals().slurm = self._lua.table_from({**CONSTANTS, **says, **logs})
        self._lua.globals().dofile(script)

    def submit(self, job: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        """What slurmctld is answered, and the job as the script leaves it."""
        table = self._table(job)
        return self._lua.globals().slurm_job_submit(table, self._table({}), OWNER), dict(table)

    def modify(self, change: Mapping[str, Any], job: Mapping[str, Any]) -> int:
        """What slurmctld is answered when the owner of a job changes it."""
        tables = (self._table(change), self._table(job), self._table({}))
        answer: int = self._lua.globals().slurm_job_modify(*tables, OWNER)
        return answer

    def _table(self, values: Mapping[str, Any]) -> Any:
        return self._lua.table_from(values)


def asking_for(ipus: int) -> dict[str, Any]:
    """What the option --ipus leaves in a job."""
    return {"spank_job_env_size": 1, "spank_job_env": {0: f"_SLURM_SPANK_OPTION_ipu_ipus={ipus}"}}
