# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who asks, and what they may see."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import NamedTuple

from podsim.vipu.controller import key_digest
from podsim.vipu.entities import State, User
from podsim.vipu.errors import Refused
from podsim.vipu.interfaces import ACCESS_KEY_KEY, USER_ID_KEY


class Caller(NamedTuple):
    """Whoever makes a call; no user at all where the controller authenticates nobody."""

    user: User | None

    @property
    def allocation_ids(self) -> tuple[str, ...] | None:
        """The allocations that the caller may see; None for all of them."""
        return None if self.user is None or self.user.admin else self.user.allocation_ids

    def sees(self, allocation_id: str) -> bool:
        """Whether the caller may see what lies in that allocation ('': in none)."""
        return self.allocation_ids is None or allocation_id in self.allocation_ids

    def require_admin(self) -> None:
        """Refuses everybody but administrators."""
        if self.user and not self.user.admin:
            raise Refused("PERMISSION_DENIED", f"user '{self.user.id}' is not an administrator")


def authenticate(state: State, metadata: Mapping[str, str], secure: bool) -> Caller:
    """The caller by the call's metadata; in secure mode it has to be a known user with the right access key."""
    if not secure:
        return Caller(None)
    user = state.users.get(metadata.get(USER_ID_KEY, ""))
    key = key_digest(metadata.get(ACCESS_KEY_KEY, ""))
    if user is None or not hmac.compare_digest(user.access_key_sha256, key):
        raise Refused("UNAUTHENTICATED", "user id or access key is wrong: give --api-user-id and --api-access-key")
    return Caller(user)
