# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The spellings in which a secret may be found where it should not be."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable

HASHES = ("md5", "sha1", "sha256", "sha512")
# What prints every access key that the host of V-IPU controllers has, each in a line.
SHOW_KEYS = r"""
sed -nE 's/^api-access-key="(.*)"$/\1/p' /etc/vipu/*.hcl
find /var/lib /srv -path '*/keys/*.key' -exec cat {} +
"""


def spellings(secret: str) -> set[str]:
    """As it is, in base64 at each offset of a longer text, and hashed, alone or as a line."""
    plain = secret.encode()
    shifted = (base64.b64encode(b"x" * offset + plain)[4 if offset else 0 : -4].decode() for offset in range(3))
    hashed = (hashlib.new(name, text).hexdigest() for name in HASHES for text in (plain, plain + b"\n"))
    return {secret, *shifted, *hashed}


def secrets_in(text: str, secrets: Iterable[str]) -> list[str]:
    """Those of the secrets that a text has in any spelling."""
    return [secret for secret in secrets if any(spelling in text for spelling in spellings(secret))]
