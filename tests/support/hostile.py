# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a device, a tenant or a file may say to be obeyed, to steer a terminal or to break a file."""

from __future__ import annotations

from pathlib import Path

# What a command that must never run would leave behind.
MARKER = "obeyed"
TEMPLATE = f"{{{{ lookup('ansible.builtin.pipe', 'touch {MARKER}') }}}}"
LONG = "x" * (1 << 20)

HOSTILE = {
    "template": TEMPLATE,
    "template statement": f"{{% if lookup('pipe', 'touch {MARKER}') %}}x{{% endif %}}",
    "template comment": "{# nobody sees this",
    "control sequence": "\x1b[2J\x1b[31mred",
    "clipboard": "\x1b]52;c;dG91Y2g=\x07",
    "hyperlink": "\x1b]8;;https://example.org\x1b\\here\x1b]8;;\x1b\\",
    "newlines": "one\ntwo\r\nthree\x0bfour\x0cfive\x85six\u2028seven\u2029eight",
    "heading": "\n\n# a heading\n| a | row |\n",
    "nul": "a\x00b",
    "C1": "a\x9b31mb\x9dc",
    "bidi": "user\u202egnp.exe\u2066\u2069",
    "html": "</td></script><script>alert(1)</script><img src=x onerror=alert(1)>]]>",
    "shell": f"$(touch {MARKER}); touch {MARKER} | `touch {MARKER}` && '\"",
    "EOS": "?\x03\x1a\x15! | no",
    "long line": LONG,
    "long control line": "\x1b" * (1 << 20),
    "invalid UTF-8": b"\xff\xfe\xc3(".decode(errors="surrogateescape"),
    "YAML": "a: b\n- c: [d\n...\n--- !unsafe &x *y",
    "option": "--force",
}
# What Python, but neither a device nor a program, takes for the end of a line.
ENDS = "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


def is_seen(text: str) -> bool:
    """Whether a text is one line of characters that are seen."""
    return text.isprintable()


def nothing_ran(folder: Path) -> bool:
    """Whether no command of the hostile texts was carried out in a folder."""
    return not list(folder.rglob(MARKER))
