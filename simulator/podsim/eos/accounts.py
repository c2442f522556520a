# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who may log in and run what: the account that the switch was started with, and those of its running-config."""

from __future__ import annotations

import hmac
import re

from podsim.eos.config import Node

# A secret that is stored encrypted cannot be told from a wrong one here.
_USER = re.compile(
    r"username (?P<name>\S+)(?: privilege \d+)?(?: role (?P<role>\S+))?(?: secret (?:0 )?(?P<secret>\S+)| nopassword)"
)
_AUTHORIZES_COMMANDS = "aaa authorization commands all default local"
_OPERATOR, _ADMINISTRATOR = "network-operator", "network-admin"
# The rules of EOS's role network-operator: these not, all others outside the configuration.
_NOT_FOR_OPERATORS = re.compile(r"configure|bash|python-shell")


def log_in(running: Node, started_with: tuple[str, str], user: str, password: str) -> bool:
    """Whether a name and a password belong to an account."""
    known = dict([started_with, *((name, secret) for name, (secret, _role) in _declared(running).items())])
    return user in known and hmac.compare_digest(known[user].encode(), password.encode())


def may_run(running: Node, user: str, line: str, configures: bool) -> bool:
    """Whether the role of a user allows a command; roles count only where commands are authorized."""
    if not running.has(_AUTHORIZES_COMMANDS):
        return True
    role = _declared(running).get(user, ("", _ADMINISTRATOR))[1]
    return role != _OPERATOR or not (configures or _NOT_FOR_OPERATORS.match(line.strip()))


def _declared(running: Node) -> dict[str, tuple[str, str]]:
    """The accounts of the running-config: name to secret and role, which is the operator's where none is given."""
    found = [_USER.fullmatch(child.line) for child in running.children.values()]
    return {match["name"]: (match["secret"] or "", match["role"] or _OPERATOR) for match in found if match}
