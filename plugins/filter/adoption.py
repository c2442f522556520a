# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pure core for playbooks/gather.yml: from what was read to the pods.yml for it, and what contradicts itself."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import yaml
from ansible.errors import AnsibleFilterError

from ansible_collections.ipu.pod.plugins.plugin_utils._adoption import switches
from ansible_collections.ipu.pod.plugins.plugin_utils._adoption.controllers import adopted
from ansible_collections.ipu.pod.plugins.plugin_utils._adoption.fleet import adopted_fleet
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.schema import DeclarationError
from ansible_collections.ipu.pod.plugins.plugin_utils._review.findings import Gathered, findings
from ansible_collections.ipu.pod.plugins.plugin_utils._review.gathered import reading_from
from ansible_collections.ipu.pod.plugins.plugin_utils._review.pods_yml import COMMENTS, ordered

WIDTH = 118
# Group to what gather.yml registers at its hosts.
REGISTERED = {
    "switches": ("gather_switch",),
    "vipu_controllers": ("gather_held",),
    "poplar_servers": ("gather_nics", "gather_network", "gather_roce", "gather_leases"),
}
NOT_DECLARED = "There, but not declared, and so left as it is. Without the comment signs it would be kept so:"


def adopted_of(declaration: Any, held: Any) -> Any:
    """The pods.yml that reproduces what the controllers hold, and what it cannot say."""
    return _refusing(lambda: asdict(adopted(_plain(declaration), _plain(held))))


def adopted_switches_of(declaration: Any, gathered: Any) -> Any:
    """The pods.yml that keeps switches as they are, and what it cannot say."""
    return _refusing(lambda: asdict(switches.adopted(_plain(declaration), _plain(gathered))))


def reading_of(variables: Any, groups: Any) -> Any:
    """What the tasks of gather.yml have registered, by what was read."""
    registered = {
        group: {host: [_plain(variables[host].get(name) or {}) for name in names] for host in groups.get(group, ())}
        for group, names in REGISTERED.items()
    }
    switches_read, controllers, servers = registered.values()
    return asdict(
        reading_from(
            {host: result for host, (result,) in switches_read.items()},
            {host: result for host, (result,) in controllers.items()},
            servers,
        )
    )


def adopted_fleet_of(declaration: Any, reading: Any) -> Any:
    """The pods.yml that keeps everything as it is, and what it cannot say."""
    read = [_plain(reading[layer]) for layer in ("controllers", "switches", "servers")]
    return _refusing(lambda: asdict(adopted_fleet(_plain(declaration), *read)))


def findings_of(document: Any, reading: Any, port_map: Any) -> Any:
    """Where what was read contradicts itself."""
    gathered = Gathered(*(_plain(reading[layer]) for layer in ("switches", "servers", "controllers", "leases")))
    return _refusing(lambda: findings(_plain(document), gathered, _plain(port_map)))


def findings_markdown(found: Any) -> str:
    """Findings for people."""
    lines = ["# What contradicts itself", ""]
    lines += [f"- **{each['device']}**: {each['finding']}. {each['remedy']}" for each in _plain(found)]
    return "\n".join(lines if found else [*lines, "Nothing."]) + "\n"


def pods_yml(document: Any, reasons: Any = ()) -> str:
    """The text of a pods.yml; ``reasons`` become comments."""
    lines = ["# What was found on these pods; the same again changes nothing."]
    if reasons:
        lines += ["# Not said here:", *(f"# - {reason}" for reason in _plain(list(reasons)))]
    sections = ordered(_plain(document))
    for name, words in sections.items():
        if isinstance(words, dict):
            lines += ["", *([f"# {COMMENTS[name]}"] if name in COMMENTS else [])]
        lines.append(_yaml({name: words}))
    return "\n".join(lines) + "\n"


def host_vars(variables: Any, left: Any = None) -> str:
    """The text of a server's host variables; what is left as it is becomes a comment."""
    parts = [_yaml(_plain(variables))] if variables else []
    if left:
        parts.append("\n".join(f"# {line}" for line in [NOT_DECLARED, *_yaml(_plain(left)).splitlines()]))
    return "\n\n".join(parts) + "\n"


def _yaml(value: Any) -> str:
    """YAML with the innermost lists and mappings in one line each."""
    is_plain = all(not isinstance(each, (dict, list)) for each in value.values())
    style = False if is_plain else None
    text: str = yaml.safe_dump(value, default_flow_style=style, sort_keys=False, width=WIDTH, allow_unicode=True)
    return text.rstrip("\n")


def _refusing(adopt: Any) -> Any:
    try:
        return adopt()
    except DeclarationError as error:
        raise AnsibleFilterError("; ".join(error.problems)) from None


def _plain(value: Any) -> Any:
    """The value without what Ansible remembers of its origin."""
    if isinstance(value, dict):
        return {_plain(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        # Where Ansible has a text of its own, str() gives the same again.
        return str.__str__(value)
    kind = next((kind for kind in (bool, int, float) if isinstance(value, kind)), None)
    return kind(value) if kind else value


class FilterModule:
    """Filters of the collection."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {
            "adopted": adopted_of,
            "adopted_switches": adopted_switches_of,
            "adopted_fleet": adopted_fleet_of,
            "findings": findings_of,
            "findings_markdown": findings_markdown,
            "host_vars": host_vars,
            "pods_yml": pods_yml,
            "reading": reading_of,
        }
