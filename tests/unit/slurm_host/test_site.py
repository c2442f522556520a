# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts read of an existing Slurm: values, nodes, includes, and who wrote which part."""

from __future__ import annotations

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from ansible_collections.ipu.pod.plugins.module_utils._slurm_host.site import Site, site_from

CONF = """\
# A comment with Prolog=/no/such
ClusterName=theirs
slurmuser=somebody
Prolog=/first   # the second counts
PROLOG="/with a space"
Licenses=matlab:4,\\
ansys:2
NodeName=old[1-2] CPUs=2
NodeName=DEFAULT Gres=gpu:1
NodeName=node[1-2,07],login CPUs=8
NodeName=other Gres=vipu:4:2,gpu:1 CPUs=8
include more.conf
include /etc/slurm/ipu-pod.conf
"""
OURS = "# Written by the role ipu.pod.slurm, which overwrites what is changed here by hand.\n"


def site(**files: str) -> Site:
    """Of a host with these files; a dot in their names is written as two underscores."""
    texts = {f"/etc/slurm/{name.replace('__', '.')}": text for name, text in files.items()}
    header = {"/usr/include/slurm/slurm_version.h": "/* x */\n#define SLURM_VERSION_NUMBER 0x160508\n"}
    return site_from({**texts, **header}.get, "/etc/slurm")


def test_the_last_value_counts_and_ours_do_not() -> None:
    found = site(slurm__conf=CONF, more__conf="RequeueExit=9\n", **{"ipu-pod__conf": OURS + "Epilog=/ours\n"})
    assert found.values == {"Prolog": "/with a space", "Licenses": "matlab:4,ansys:2", "RequeueExit": "9"}
    assert (found.slurm_conf, found.user, found.included) == ("site", "somebody", True)
    assert found.version == "22.05.08"
    assert found.overridden == ()


def test_nodes_have_the_gres_of_their_line_or_of_the_default_before_it() -> None:
    found = site(slurm__conf=CONF, more__conf="", **{"ipu-pod__conf": ""})
    of_the_default = dict.fromkeys(("node1", "node2", "node07", "login"), "gpu:1")
    assert found.nodes == {"old1": "", "old2": "", **of_the_default, "other": "vipu:4:2,gpu:1"}


def test_nodes_have_the_features_of_their_line_or_of_the_default_before_it() -> None:
    found = site(
        slurm__conf="NodeName=a Feature=x,y\nNodeName=DEFAULT feature=z\nNodeName=b,c\nNodeName=d FEATURES=w CPUs=1\n"
    )
    assert found.features == {"a": "x,y", "b": "z", "c": "z", "d": "w"}
    assert found.features.keys() == found.nodes.keys()


def test_what_comes_after_our_include_is_noticed() -> None:
    found = site(slurm__conf="include /etc/slurm/ipu-pod.conf\nEpilog=/theirs\n", **{"ipu-pod__conf": OURS})
    assert found.overridden == ("Epilog",)


def test_a_file_that_is_included_has_to_be_there() -> None:
    with pytest.raises(DeviceError, match=r"/etc/slurm/more\.conf: it is included and is not there"):
        site(slurm__conf="Include more.conf\n")


def test_files_that_include_each_other_are_an_error() -> None:
    with pytest.raises(DeviceError, match=r"slurm\.conf: it is included and includes itself"):
        site(slurm__conf="include slurm.conf\n")


def test_who_wrote_what() -> None:
    found = site(
        slurm__conf=OURS, job_submit__lua="-- theirs\n", cli_filter__lua="-- Copyright (c) The ipu.pod authors\n"
    )
    assert (found.slurm_conf, found.user) == ("role", "root")
    assert found.scripts == {"job_submit": "site", "cli_filter": "role"}
    assert found.site_scripts == ()
    assert site(job_submit__site__lua="").site_scripts == ("job_submit",)
    assert site().slurm_conf == ""


@pytest.mark.parametrize(
    ("plugstack", "all_of_them"),
    [
        ("include /etc/slurm/plugstack.conf.d/*.conf\n", True),
        ("# include /etc/slurm/plugstack.conf.d/*.conf\n", False),
        ("include /etc/slurm/plugstack.conf.d/ipu-pod.conf\n", False),
    ],
)
def test_most_clusters_include_a_whole_folder_of_plugins(plugstack: str, all_of_them: bool) -> None:
    assert site(plugstack__conf=plugstack).plugins_included is all_of_them
    assert not site().plugins_included


@pytest.mark.parametrize(
    ("gres", "included", "empty"),
    [
        ("# Theirs\nInclude  /etc/slurm/ipu-pod-gres.conf\n", True, False),
        ("# Include /etc/slurm/ipu-pod-gres.conf\n", False, False),
        ("", False, True),
    ],
)
def test_generic_resources_may_include_ours_or_be_nothing(gres: str, included: bool, empty: bool) -> None:
    found = site(gres__conf=gres)
    assert (found.gres_included, found.gres_empty) == (included, empty)
    assert (site().gres_included, site().gres_empty) == (False, False)


def test_a_site_is_itself_after_the_way_through_the_module() -> None:
    found = site(slurm__conf="include /etc/slurm/ipu-pod.conf\nEpilog=/theirs\n", **{"ipu-pod__conf": OURS})
    assert Site.of(found.public()) == found
