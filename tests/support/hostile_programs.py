# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs of a host that answer with hostile text wherever a tenant, a job or a device can put some."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.support.hostile import HOSTILE
from tests.support.in_memory.slurm import FakeJob

# What a tenant may call an entity; the last two are nothing but names.
NAMES = [*HOSTILE.values(), "-x", ".."]
PARTITION = {
    "ipus": [{}],
    "num_gcds": 1,
    "num_replicas": 1,
    "ipulink_routing_type": "IRT_DNC",
    "gw_routing_type": "GRT_UNDEFINED",
    "sync_type": "ST_GS2_DEFAULT",
    "reconfigurable": False,
}
# Of a controller about which V-IPU's programs say nothing but errors.
FAILING_PORT = 1
VIPU = """\
#!/bin/sh
printf '%s\\n' "$*" >> {folder}/called
for last; do :; done
case "$*" in
*" -P {failing_port} "*) cat {folder}/said >&2; exit 1 ;;
*--server-version*) echo version: 1.18.0 ;;
*" list "*) cat "{folder}/$last.json" ;;
*" get partition good") cat {folder}/status.json ;;
*) cat {folder}/said >&2; exit 1 ;;
esac
"""

SQUEUE = """\
#!/bin/sh
case "$*" in
*--version*) echo slurm 22.05.8 ;;
*--Format=*) cat {folder}/jobs ;;
*"%A|%u|%r"*) cat {folder}/reasons ;;
*"%i %u"*) cat {folder}/running ;;
*) echo 12 ;;
esac
"""
# What it is asked to write has an end that no text can have.
SCONTROL = """\
#!/bin/sh
case "$1 $2" in
"show "*) cat {folder}/said; cat {folder}/said >&2 ;;
*) printf '%s\\0' "$*" >> {folder}/told ;;
esac
"""
# A job that waits for its IPUs, with somebody before it.
JOB = FakeJob(12, 4, batch=False)


def entities(names: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """What a V-IPU controller lists where entities have these names, and one of each kind a good one."""
    called = ["good", *names]
    return {
        "agents": [
            {"id": name, "spec": {"host": name, "port": 8080}, "status": {"state": name, "virm_version": name}}
            for name in called
        ],
        "clusters": [
            {"id": name, "spec": {"agent_ids": [name], "topology": name, "num_ipulink_domains": 1}} for name in called
        ],
        "allocations": [{"id": name, "spec": {"agent_ids": [name], "cluster_id": name}} for name in called],
        "users": [{"id": name, "spec": {"allocation_ids": [name]}} for name in called],
        "partitions": [
            {
                "id": name,
                "spec": {**PARTITION, "allocation_id": name},
                "ready_state": "PS_ERROR" if name == "good" else "PS_ACTIVE",
            }
            for name in called
        ],
    }


def write_programs(folder: Path, names: Iterable[str] = NAMES) -> Path:
    """Write `vipu-admin`, `vipu`, `squeue` and `scontrol`, and return their folder.

    What V-IPU's are called with is a line of the file `called`, what Slurm is told ends with a NUL in `told`.
    """
    hostile = HOSTILE.values()
    _write(folder / "said", "\n".join(hostile))
    for kind, listed in entities(names).items():
        (folder / f"{kind}.json").write_text(json.dumps({kind: listed}))
    status = {"ready_state": "PS_ERROR", "operation_state": "POS_FAILED", "errors": list(hostile)}
    (folder / "status.json").write_text(json.dumps({"status": status}))
    jobs = [JOB, *(FakeJob(number, licenses=text, name=text) for number, text in enumerate(hostile, 100))]
    _write(folder / "jobs", "".join(job.line() for job in jobs))
    _write(folder / "reasons", "".join(f"{number}|{text}|{text}\n" for number, text in enumerate(hostile, 100)))
    _write(folder / "running", "".join(f"{number} {text}\n" for number, text in enumerate(hostile, 100)))
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    for name, text in {"vipu-admin": VIPU, "vipu": VIPU, "squeue": SQUEUE, "scontrol": SCONTROL}.items():
        (programs / name).write_text(text.format(folder=folder, failing_port=FAILING_PORT))
        (programs / name).chmod(0o755)
    return programs


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode(errors="surrogateescape"))
