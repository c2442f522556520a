# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a service of a cloud answers, as one sentence with its name and a remedy. Pure."""

from __future__ import annotations

import json
import re
from typing import Any

# Types of services, as the SDK calls its clients, to the names by which operators know them.
SERVICES = {
    "identity": "Keystone",
    "placement": "Placement",
    "compute": "Nova",
    "network": "Neutron",
    "image": "Glance",
    "block_storage": "Cinder",
}
PIP = "pip install 'openstacksdk>=4.4,<4.8'"
_REMEDIES = {
    400: "correct what is declared",
    401: "the credentials are wrong or have ended; correct the entry in clouds.yaml",
    403: "the operator's user may not do that; give it the role admin, or correct the policy of the service",
    404: "it went meanwhile; run again",
    409: "something else is in the way; remove it, or declare another",
    413: "the service takes no more for now; run again later",
    429: "the service takes no more for now; run again later",
    502: "the service is behind a proxy and down; start it, and run again",
    503: "the service, or what it needs, is down; start it, and run again",
    504: "the service did not answer its proxy in time; see its log, and run again",
}
_QUOTA = re.compile(r"quota|exceed", re.IGNORECASE)
_HIGHER_QUOTA = "raise the quota of the project, or declare less"


def answered(service: str, doing: str, status: int, body: str) -> str:
    """The sentence for an answer that is an error."""
    said = reason_in(body)
    over = status in (403, 409, 413) and _QUOTA.search(said)
    remedy = _HIGHER_QUOTA if over else _REMEDIES.get(status, "see the log of the service")
    quoted = f": {said}" if said else ""
    return f"{SERVICES[service]} answered {status} when asked to {doing}{quoted}; {remedy}"


def silent(service: str, doing: str, said: str) -> str:
    """The sentence for a service that does not answer, or is in no catalog."""
    short = said.split(": HTTP", maxsplit=1)[0].rstrip(".")
    return f"{SERVICES[service]} does not answer when asked to {doing} ({short}); start it, or correct its endpoint"


def no_sdk(found: str) -> str:
    """The sentence for a Python without openstacksdk, or with another release than is supported."""
    return f"the Python package openstacksdk is {found}, and clouds need 4.4 to 4.7: {PIP}"


def reason_in(body: str) -> str:
    """What an error's body says for people, whatever the service wraps it in."""
    try:
        return _message(json.loads(body))
    except ValueError:
        return re.sub(r"<[^>]*>", " ", body)[:300].strip()


def _message(data: Any) -> str:
    if isinstance(data, dict):
        for key in ("message", "detail"):
            if isinstance(data.get(key), str):
                return str(data[key]).strip().rstrip(".")
        return next((found for found in map(_message, data.values()) if found), "")
    if isinstance(data, list):
        return next((found for found in map(_message, data) if found), "")
    return data.strip().rstrip(".") if isinstance(data, str) else ""
