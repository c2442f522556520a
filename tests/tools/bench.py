# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run every tests/benchmark/bench_*.py, print a table and write build/bench.json.

A benchmark is a file with a function `figures()` that returns a list of dicts
{"name": str, "value": float, "bound": float, "holds": bool}.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# Benchmarks import what tests share.
sys.path.insert(0, str(ROOT))


def main() -> int:
    """Run the benchmarks; the exit status is 1 if a bound does not hold."""
    figures: list[dict[str, Any]] = []
    print(f"{'name':<60} {'value':>12} {'bound':>12} holds", flush=True)
    for path in sorted(ROOT.glob("tests/benchmark/bench_*.py")):
        measured = import_module(f"tests.benchmark.{path.stem}").figures()
        # Row by row, as the whole takes a quarter of an hour.
        for figure in measured:
            holds = "yes" if figure["holds"] else "NO"
            print(f"{figure['name']:<60} {figure['value']:>12.6g} {figure['bound']:>12.6g} {holds}", flush=True)
        figures += measured
    if not figures:
        print("(there are no benchmarks)")

    target = ROOT / "build" / "bench.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return int(not all(figure["holds"] for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
