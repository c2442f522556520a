# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""OpenMetrics text over HTTP at /metrics, for the controller and for every agent."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer

Sample = tuple[str, dict[str, str], float]
"""Name, labels, value."""


def render(samples: list[Sample]) -> str:
    """The samples, all of them gauges, as OpenMetrics text."""
    lines: list[str] = []
    announced: set[str] = set()
    for name, labels, value in samples:
        if name not in announced:
            lines.append(f"# TYPE {name} gauge")
            announced.add(name)
        text = ",".join(f'{label}="{content}"' for label, content in labels.items())
        lines.append(f"{name}{{{text}}} {value:g}" if text else f"{name} {value:g}")
    return "\n".join([*lines, "# EOF", ""])


def serve(host: str, port: int, samples: Callable[[], list[Sample]]) -> None:
    """Answers http://host:port/metrics from a background thread, for the life of the process.

    Raises OSError when the port is in use.
    """

    class Exporter(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path != "/metrics":
                self.send_error(404, "only /metrics is here")
                return
            body = render(samples()).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            """Scrapes are not worth a line."""

    threading.Thread(target=HTTPServer((host, port), Exporter).serve_forever, daemon=True).start()
