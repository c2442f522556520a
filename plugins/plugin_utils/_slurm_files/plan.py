# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All files of the role slurm for one vPOD, or why they cannot be. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._slurm_host.paths import HEADER, PLUGIN, SETTINGS, Paths
from ansible_collections.ipu.pod.plugins.module_utils._slurm_host.site import ROLE, SITE, Site, site_from
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.settings import (
    DYNAMIC,
    MAPPING,
    RECONFIGURABLE,
    STATIC,
    settings_from,
)

from .._declaration.declaration import parse_declaration
from .._desired.controllers import user_end_point
from .._pod.devices import devices_of
from .._pod.model import Declaration
from .._pod.wording import spans
from .blocks import FEATURE, are_other, features_of, node_blocks, with_ours
from .gres import counts_of, gres_conf, gres_of, lacks
from .included import chained, has_licence, included_conf
from .lua import lua_of
from .new_cluster import slurm_conf
from .settings import slurm_settings

Plan = dict[str, Any]
# What jobs may say of themselves.
PLUGIN_OPTIONS = {
    DYNAMIC: ("ipus", "num-replicas"),
    MAPPING: ("ipus", "num-replicas"),
    RECONFIGURABLE: ("ipus",),
    STATIC: (),
}


def slurm_plan(declared: Any, choice: Mapping[str, Any], controllers: Mapping[str, str], found: Any) -> Plan:
    """The files of a Slurm cluster's hosts.

    Args:
        declared: the pods.yml.
        choice: what the owner chose, by the names of the role's variables without ``slurm_``.
        controllers: the hosts of Slurm's controllers and their addresses.
        found: what the first of them has, as the module slurm_info returns it.

    Returns:
        ``settings``, ``nodes`` (Slurm's nodes), ``held_back`` (nodes that are to have no jobs, each with those of its
        IPU-Machines that are excluded), ``vipu`` (where the V-IPU controller is and who Slurm is there), ``user`` (who
        Slurm's controller runs as), ``refusals`` (sentences), and texts of files by path: ``files`` are read when they
        are needed, ``conf`` when a daemon starts.

    Raises:
        Refused: pods.yml and the choice do not go together.
        DeclarationError: pods.yml is wrong.
    """
    declaration = parse_declaration(declared)
    settings, paths = slurm_settings(declaration, choice), Paths(choice["directory"])
    vpod, devices = declaration.vpods[choice["vpod"]], devices_of(declaration)
    counts = counts_of(settings) if settings["way"] == STATIC else {}
    features = _features(settings) if settings["way"] == MAPPING else {}
    nodes = {name: str(devices[name].facts["management_address"]) for name in vpod.poplar_servers}
    site = Site.of(found)
    refusals = [] if choice["cluster"] else _site_refusals(site, nodes, counts, features, paths)
    if settings["way"] == MAPPING and not choice["cluster"]:
        refusals += _feature_refusals(site, features, paths)
    if not choice["cluster"]:
        refusals += _host_refusals(site, nodes, choice, paths)
    refusals += _cluster_refusals(site, choice["cluster"], paths)
    conf: dict[str, str] = {}
    if choice["cluster"]:
        text = slurm_conf(choice["cluster"], choice["user"], controllers, nodes, counts, features, choice["directory"])
        conf[paths.slurm_conf] = text
        ours = {paths.slurm_conf: text, paths.included: ""}
        site = site_from(ours.get, choice["directory"])
    settings["chained"] = chained(site.values)
    conf[paths.included] = included_conf(settings, site.values, choice["cred_expire"])
    if counts:
        conf[paths.included_gres] = gres_conf(counts)
    text = json.dumps(settings, indent=2) + "\n"
    return {
        "settings": settings,
        "nodes": list(nodes),
        "held_back": _held_back(declaration, settings["mapping"]),
        "vipu": user_end_point(declaration, vpod, devices),
        "user": site.user,
        "refusals": refusals,
        "files": {
            SETTINGS: text,
            paths.lua: lua_of(settings_from(text)),
            paths.included_plugstack: _plugstack(settings),
        },
        "conf": conf,
    }


def _plugstack(settings: Mapping[str, Any]) -> str:
    options = ",".join(PLUGIN_OPTIONS[settings["way"]])
    arguments = [*([f"options={options}"] if options else []), f"run={settings['run']}"]
    return f"{HEADER}\nrequired {PLUGIN} {' '.join(arguments)}\n"


def _features(settings: Mapping[str, Any]) -> dict[str, list[str]]:
    """By which features Slurm knows the blocks of nodes."""
    mapping = settings["mapping"]
    return features_of(node_blocks(mapping, list(settings["ipu_machines"].values())), len(mapping))


def _held_back(declaration: Declaration, mapping: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The nodes with IPU-Machines that are excluded. They stay mapped, as jobs may still be there."""
    excluded = {name for pod in declaration.pods.values() for name in pod.excluded}
    dead = {node: [name for name in machines if name in excluded] for node, machines in mapping.items()}
    return {node: spans(machines) for node, machines in dead.items() if machines}


def _cluster_refusals(site: Site, cluster: Mapping[str, Any], paths: Paths) -> list[str]:
    if cluster and site.slurm_conf == SITE:
        return [f"{paths.slurm_conf} is there and not from this role; leave slurm_cluster out, to add to that cluster"]
    if not cluster and site.slurm_conf == ROLE:
        return [f"{paths.slurm_conf} is from this role; say in slurm_cluster what it is to be"]
    if not cluster and not site.slurm_conf:
        return [f"{paths.slurm_conf} is not there; bring Slurm up, or declare a new cluster in slurm_cluster"]
    return []


def _site_refusals(
    site: Site,
    nodes: Mapping[str, str],
    counts: Mapping[str, Mapping[int, int]],
    features: Mapping[str, Sequence[str]],
    paths: Paths,
) -> list[str]:
    """Return conflicts with a site's own cluster, with the correct text."""
    if not site.slurm_conf:
        return []
    refusals = []
    for node in nodes:
        gres = f" Gres={gres_of(counts[node])}" if node in counts else ""
        feature = f" Feature={','.join(features[node])}" if node in features else ""
        if node not in site.nodes:
            refusals.append(f"{paths.slurm_conf} has no node {node}; add one: NodeName={node}{gres}{feature}")
        elif lacks(site.nodes[node], counts.get(node, {})):
            right = f"has to say{gres}" if gres else "must have no Gres of vipu"
            refusals.append(f"{paths.slurm_conf}: the line of NodeName={node} {right}; change it there")
    if has_licence(site.values):
        refusals.append(f"{paths.slurm_conf}: Licenses has ipu already, which is ours to count; give it another name")
    if site.overridden:
        keys = ", ".join(site.overridden)
        refusals.append(f"{paths.slurm_conf}: {keys} must stand before the line that includes {paths.included}")
    for name in site.site_scripts:
        if site.scripts[name] == SITE:
            refusals.append(f"{paths.script(name)} and {paths.site_script(name)} are both the site's; make them one")
    return refusals


def _host_refusals(site: Site, nodes: Mapping[str, str], choice: Mapping[str, Any], paths: Paths) -> list[str]:
    """Return the conflicts on nodes outside the vPOD, whose jobs start our programs, too."""
    refusals = []
    unknown = [node for node in site.nodes if node not in choice["hosts"]]
    if unknown:
        named = ", ".join(unknown)
        refusals.append(
            f"{paths.slurm_conf} has {named}, whose jobs would start our programs, too; put them into the inventory "
            "group slurm_clients"
        )
    if set(site.nodes) - set(nodes) and not choice["ipu_partitions"]:
        refusals.append(
            f"{paths.slurm_conf} has nodes that are no Poplar servers of the vPOD; name the Slurm partitions of those "
            "that are in slurm_ipu_partitions"
        )
    return refusals


def _feature_refusals(site: Site, features: Mapping[str, Sequence[str]], paths: Paths) -> list[str]:
    """Which lines of nodes, also of those without IPUs, say something else of the blocks than is so."""
    refusals = []
    for node, listed in site.features.items():
        wanted = features.get(node, [])
        if are_other(listed, wanted):
            right = f"has to say Feature={with_ours(listed, wanted)}" if wanted else f"must have no Feature {FEATURE}…"
            refusals.append(f"{paths.slurm_conf}: the line of NodeName={node} {right}; change it there")
    return refusals
