# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cloud over HTTP, by openstacksdk: each of its services down, credentials that are wrong or end during the run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._cloud import apply as applying
from ansible_collections.ipu.pod.plugins.module_utils._cloud.client import connect
from ansible_collections.ipu.pod.plugins.module_utils._cloud.engine import Engine, with_checksums
from ansible_collections.ipu.pod.plugins.module_utils._cloud.messages import SERVICES
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import (
    DeviceError,
    Outcome,
    converge,
    one_by_one,
)
from tests.support.in_memory.cloud_of_alice import options
from tests.support.secret_spellings import secrets_in
from tests.support.strict_cloud import Disturbance, Request, StrictCloud
from tests.support.strict_cloud_server import Site, running

PASSWORD = "its password"


@pytest.fixture(name="site")
def _site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setattr(applying, "LOOK_AGAIN", 0)
    with running(StrictCloud()) as site:
        site.write_entry(tmp_path / "clouds.yaml", PASSWORD)
        monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
        yield site


@pytest.fixture(name="desired")
def _desired(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "image").write_bytes(b"data")
    image = {"name": "poplar", "file": str(tmp_path / "image"), "disk_format": "qcow2"}
    return dict(with_checksums(options(images=[image])))


def run(desired: dict[str, Any]) -> Outcome:
    engine = Engine(connect("cloud001"), desired, [], wait_timeout=5)
    return converge(engine.read, engine.plan, one_by_one(engine.carry_out), check_mode=False)


def test_a_vpod_is_made_and_a_second_run_changes_nothing(site: Site, desired: dict[str, Any]) -> None:
    assert run(desired).failure is None
    assert site.cloud.one("server", "alice-1")["status"] == "ACTIVE"
    assert run(desired).steps == []


@pytest.mark.usefixtures("site")
def test_user_data_that_nova_does_not_take_are_not_quoted(desired: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "alice.yml").write_text("#cloud-config\n" + "0123abc " * 10_000)
    failure = str(run({**desired, "user_data": str(tmp_path)}).failure)
    assert failure.startswith("cloud cloud001: Nova answered 400 when asked to create server alice-1: ")
    assert "Invalid input for field/attribute user_data. Value: .... '...' is too long" in failure
    assert secrets_in(failure, ["0123abc"]) == []


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_that_is_down_is_named_before_anything_is_touched(
    site: Site, desired: dict[str, Any], service: str
) -> None:
    site.stop(service)
    with pytest.raises(DeviceError) as error:
        run(desired)
    said = str(error.value)
    assert said.startswith(f"cloud cloud001: {SERVICES[service]} does not answer when asked to ")
    assert said.endswith("; start it, or correct its endpoint")
    assert said.count(" does not answer ") == 1
    assert not [each for each in site.cloud.requests if " GET " not in each]


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_that_goes_down_during_the_run_is_named_and_the_next_run_goes_on(
    site: Site, desired: dict[str, Any], service: str
) -> None:
    site.cloud.disturbance = Disturbance(0, lambda _request: site.stop(service), counts=is_of_another(service))
    outcome = run(desired)
    assert f"{SERVICES[service]} does not answer when asked to " in str(outcome.failure)
    site.cloud.disturbance = None
    site.start(service)
    assert run(desired).failure is None
    assert run(desired).steps == []


def is_of_another(service: str) -> Any:
    # Of another service, which answers this request while that one stops.
    return lambda request: request.is_write and request.service != service


def test_a_wrong_password_is_said(site: Site, desired: dict[str, Any]) -> None:
    site.cloud.password = "another one"
    with pytest.raises(DeviceError) as error:
        run(desired)
    assert str(error.value) == (
        "cloud cloud001: Keystone answered 401 when asked to log in; the credentials are wrong or have ended; correct "
        "the entry in clouds.yaml"
    )


def test_a_token_that_ends_during_the_run_is_replaced(site: Site, desired: dict[str, Any]) -> None:
    site.cloud.disturbance = Disturbance(6, lambda _request: site.cloud.tokens.clear())
    assert run(desired).failure is None
    assert site.cloud.disturbance.has_happened


def test_credentials_that_end_during_the_run_are_said(site: Site, desired: dict[str, Any]) -> None:
    def end(_request: Request) -> None:
        site.cloud.tokens.clear()
        site.cloud.password = "another one"

    site.cloud.disturbance = Disturbance(6, end)
    outcome = run(desired)
    assert str(outcome.failure).startswith(
        "cloud cloud001: Keystone answered 401 when asked to let the operator create subnet vpod-alice-rnic; the "
        "credentials are wrong or have ended; correct the entry in clouds.yaml; then the state could not be read again"
    )
    site.cloud.password, site.cloud.disturbance = PASSWORD, None
    assert run(desired).failure is None
    assert run(desired).steps == []
