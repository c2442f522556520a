# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The known input and output of V-IPU's programs, as data: verbs, flags, names.

The fields of entities are in :mod:`.fields`. Each entry says how it is known: documented by the vendor, seen in public
code or output of real installations, or assumed by the same pattern. ``since`` is the oldest release that is known to
have it. :mod:`.probe` compares all of it with an installed program; :mod:`.spelling` puts it to use.
"""

from __future__ import annotations

from dataclasses import dataclass

from .entities import AGENT, ALLOCATION, CLUSTER, PARTITION, USER
from .fields import ASSUMED, DOCUMENTED, ENUMS, NAMES, NUMBER, OLDEST, SEEN, Field, Flag, create_flags

ADMIN, USERS = "vipu-admin", "vipu"
BOTH = (ADMIN, USERS)


@dataclass(frozen=True)
class Command:
    """``PROGRAM verb entity [id] [flags]``."""

    verb: str
    entity: str
    known: str
    flags: tuple[Flag, ...] = ()
    programs: tuple[str, ...] = (ADMIN,)
    since: str = OLDEST


COMMANDS = (
    Command("create", AGENT, DOCUMENTED, create_flags(AGENT)),
    Command("list", AGENT, ASSUMED),
    Command("get", AGENT, DOCUMENTED),
    Command("remove", AGENT, ASSUMED),
    Command("discover", AGENT, DOCUMENTED),
    Command("create", CLUSTER, DOCUMENTED, create_flags(CLUSTER)),
    Command("list", CLUSTER, SEEN),
    Command("get", CLUSTER, ASSUMED),
    Command("remove", CLUSTER, ASSUMED),
    Command("test", CLUSTER, DOCUMENTED),
    Command("create", ALLOCATION, SEEN, (*create_flags(ALLOCATION), Flag("--options", SEEN, "1.17.0")), since="1.17.0"),
    Command("list", ALLOCATION, DOCUMENTED, programs=BOTH, since="1.17.0"),
    Command("get", ALLOCATION, SEEN, programs=BOTH, since="1.17.0"),
    Command("remove", ALLOCATION, SEEN, since="1.17.0"),
    Command("create", PARTITION, DOCUMENTED, (*create_flags(PARTITION), Flag("--cluster", SEEN)), programs=BOTH),
    Command("list", PARTITION, DOCUMENTED, (Flag("--allocation", SEEN, "1.17.0"),), programs=BOTH),
    Command(
        "get", PARTITION, DOCUMENTED, (Flag("--gcd", DOCUMENTED), Flag("--ipuof-configs", DOCUMENTED)), programs=BOTH
    ),
    Command("remove", PARTITION, SEEN, (Flag("--force", SEEN),), programs=BOTH),
    Command("reset", PARTITION, SEEN, (Flag("--relocatable", ASSUMED),), programs=BOTH),
    Command("create", USER, DOCUMENTED, create_flags(USER), since="1.17.0"),
    Command("list", USER, ASSUMED, since="1.17.0"),
    Command("get", USER, ASSUMED, since="1.17.0"),
    Command("remove", USER, ASSUMED, since="1.17.0"),
    Command("list", "ipu-attrs", DOCUMENTED, (Flag("--agents", ASSUMED),), programs=BOTH),
)

# Flags that stand with any command.
GLOBAL_FLAGS = (
    Flag("--api-host", SEEN),
    Flag("--api-port", ASSUMED),
    Flag("--api-user-id", DOCUMENTED),
    Flag("--api-access-key", DOCUMENTED),
    Flag("--tls-certs", ASSUMED),
    Flag("--config", DOCUMENTED),
    Flag("--showjson", SEEN),
    Flag("--version", SEEN),
    Flag("--server-version", SEEN),
)

# A secret on a command line is everybody's, so credentials go by environment. The pattern of the names is seen.
ENVIRONMENT = {"user_id": "VIPU_CLI_API_USER_ID", "access_key": "VIPU_CLI_API_ACCESS_KEY"}

# Documented: `get partition`; the published user API has the same message.
PARTITION_STATUS = (
    Field("status", words=ENUMS["status"], shown="ready_state"),
    Field("operation", words=ENUMS["operation"], shown="operation_state"),
    Field("errors", NAMES, shown="errors"),
    Field("auto_resets", NUMBER, shown="auto_reset_retry_count", missing=0),
)

# Our fields of an agent that announced itself, and the columns of `discover agent`. Documented; its JSON is not.
DISCOVERED = {"name": "Agent Auto-Add ID", "host": "Host", "port": "Port"}

# Call metadata that says who asks. Assumed: the real names are not published.
METADATA = {"user_id": "vipu-user-id", "access_key": "vipu-access-key"}

# Names of the files in a directory of client certificates. Assumed: the real names are not published.
TLS_FILES = {"ca": "ca.crt", "certificate": "tls.crt", "key": "tls.key"}

NO_ROOM, EXISTS, UNKNOWN, FAILED = "no room", "exists", "unknown", "failed"


@dataclass(frozen=True)
class Refusal:
    """Words in the programs' errors, and what they mean."""

    words: str
    reason: str
    known: str


REFUSALS = (
    Refusal("no free allocation", NO_ROOM, SEEN),
    Refusal("no free block", NO_ROOM, ASSUMED),
    Refusal("is in allocation", NO_ROOM, ASSUMED),
    Refusal("already exists", EXISTS, ASSUMED),
    Refusal("is unknown", UNKNOWN, SEEN),
    # Of a partition that was made and did not become ACTIVE: it is there.
    Refusal("PS_ERROR", FAILED, ASSUMED),
)
