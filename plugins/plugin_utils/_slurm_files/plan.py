# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All files of the role slurm for one vPOD, or why they cannot be. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
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
from .conf import chained, counts_of, gres_conf, gres_of, has_licence, included_conf, lacks, slurm_conf
from .lua import lua_of
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
    refusals = [*_cluster_refusals(site, choice["cluster"], paths)]
    if not choice["cluster"]:
        of_features = _feature_refusals(site, features, paths) if settings["way"] == MAPPING else []
        of_site = _site_refusals(site, nodes, counts, features, paths)
        refusals = [*of_site, *of_features, *_host_refusals(site, nodes, choice, paths), *refusals]
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


def _cluster_refusals(site: Site, cluster: Mapping[str, Any], paths: Paths) -> Iterator[str]:
    if cluster and site.slurm_conf == SITE:
        yield f"{paths.slurm_conf} is there and not from this role; leave slurm_cluster out, to add to that cluster"
    if not cluster and site.slurm_conf == ROLE:
        yield f"{paths.slurm_conf} is from this role; say in slurm_cluster what it is to be"
    if not cluster and not site.slurm_conf:
        yield f"{paths.slurm_conf} is not there; bring Slurm up, or declare a new cluster in slurm_cluster"


def _site_refusals(
    site: Site,
    nodes: Mapping[str, str],
    counts: Mapping[str, Mapping[int, int]],
    features: Mapping[str, Sequence[str]],
    paths: Paths,
) -> Iterator[str]:
    """Return conflicts with a site's own cluster, with the correct text."""
    if not site.slurm_conf:
        return
    for node in nodes:
        gres = f" Gres={gres_of(counts[node])}" if node in counts else ""
        feature = f" Feature={','.join(features[node])}" if node in features else ""
        if node not in site.nodes:
            yield f"{paths.slurm_conf} has no node {node}; add one: NodeName={node}{gres}{feature}"
        elif lacks(site.nodes[node], counts.get(node, {})):
            right = f"has to say{gres}" if gres else "must have no Gres of vipu"
            yield f"{paths.slurm_conf}: the line of NodeName={node} {right}; change it there"
    if has_licence(site.values):
        yield f"{paths.slurm_conf}: Licenses has ipu already, which is ours to count; give it another name"
    if site.overridden:
        keys = ", ".join(site.overridden)
        yield f"{paths.slurm_conf}: {keys} must stand before the line that includes {paths.included}"
    for name in site.site_scripts:
        if site.scripts[name] == SITE:
            yield f"{paths.script(name)} and {paths.site_script(name)} are both the site's; make them one"


def _host_refusals(site: Site, nodes: Mapping[str, str], choice: Mapping[str, Any], paths: Paths) -> Iterator[str]:
    """Return the conflicts on nodes outside the vPOD, whose jobs start our programs, too."""
    unknown = ", ".join(node for node in site.nodes if node not in choice["hosts"])
    if unknown:
        remedy = "put them into the inventory group slurm_clients"
        yield f"{paths.slurm_conf} has {unknown}, whose jobs would start our programs, too; {remedy}"
    if set(site.nodes) - set(nodes) and not choice["ipu_partitions"]:
        remedy = "name the Slurm partitions of those that are in slurm_ipu_partitions"
        yield f"{paths.slurm_conf} has nodes that are no Poplar servers of the vPOD; {remedy}"


def _feature_refusals(site: Site, features: Mapping[str, Sequence[str]], paths: Paths) -> Iterator[str]:
    """Which lines of nodes, also of those without IPUs, say something else of the blocks than is so."""
    for node, listed in site.features.items():
        wanted = features.get(node, [])
        if are_other(listed, wanted):
            right = f"has to say Feature={with_ours(listed, wanted)}" if wanted else f"must have no Feature {FEATURE}…"
            yield f"{paths.slurm_conf}: the line of NodeName={node} {right}; change it there"
