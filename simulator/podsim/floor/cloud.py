# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The OpenStack of a floor: its site's configuration and passwords, and when it counts as up.

What does not differ from pod to pod is in the image, `openstack/rootfs`: configurations, a systemd unit for each
service, and empty databases. A service is stopped and started as on any host, which tests of faults do:
`podman exec podsim-cloud001 systemctl stop nova-api`. The endpoints speak HTTP without TLS, in the management network
of a simulated pod, which only its host reaches.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import time
import urllib.error
import urllib.request
from typing import Any

import yaml

from podsim.floor.errors import FloorError
from podsim.floor.plan import CONTROL_PORT, MACHINES_PORT, CloudPlan, Floor, Kind, Machine
from podsim.floor.state import StateDirectory, write_private

START_SECONDS = 300.0
POLL_SECONDS = 0.5
ANSWER_SECONDS = 10.0
REGION = "RegionOne"
SERVICE_USER = "openstack"
# Service -> where it says which versions it has, to everybody.
SERVICES = {
    "Keystone": ":5000/v3",
    "Placement": ":8778/",
    "Glance": ":9292/versions",
    "Nova": ":8774/",
    "Neutron": ":9696/",
    "Cinder": ":8776/",
}
# Where services have their credentials at Keystone, each in its own words for the others.
CREDENTIALS = ("keystone_authtoken", "service_user", "placement", "neutron", "nova", "cinder", "glance")


def configure(floor: Floor, state: StateDirectory) -> None:
    """Write what each machine of the cloud knows of this site, and a clouds.yaml for its operator and users."""
    for machine in floor.machines:
        if machine.control and machine.control.address:
            text = f"CONTROL={machine.control.address}\n"
            (state.machine(machine.name) / "control.env").write_text(text, encoding="ascii")
    if floor.cloud is None:
        return
    cloud, passwords = floor.cloud, _passwords(floor.cloud, state)
    state.volumes(cloud.declared.name).mkdir(exist_ok=True)
    write_private(state.clouds_yaml, yaml.safe_dump({"clouds": _entries(cloud, passwords)}, sort_keys=False).encode())
    for machine in floor.machines:
        if machine.kind is Kind.CLOUD or machine.is_hypervisor:
            directory = state.machine(machine.name)
            write_private(directory / "cloud.conf", site_configuration(cloud, machine, passwords).encode())
            write_private(directory / "cloud.env", _environment(cloud, machine, passwords).encode())
        if machine.kind is Kind.CLOUD:
            _configure_services(cloud, machine, passwords, state)


def site_configuration(cloud: CloudPlan, machine: Machine, passwords: dict[str, str]) -> str:
    """The part of every service's configuration that differs from site to site, in the format of oslo.config."""
    address = cloud.declared.management
    credentials = {
        "auth_type": "password",
        "auth_url": f"http://{address}:5000/v3",
        "www_authenticate_uri": f"http://{address}:5000/v3",
        "username": SERVICE_USER,
        "password": passwords["service"],
        "project_name": "service",
        "user_domain_name": "Default",
        "project_domain_name": "Default",
        "region_name": REGION,
        "os_region_name": REGION,
        "api_servers": f"http://{address}:9292",
        "send_service_user_token": "true",
        "service_token_roles": "service",
        "service_token_roles_required": "true",
    }
    sections = {
        "DEFAULT": {
            "transport_url": f"rabbit://{SERVICE_USER}:{passwords['messages']}@{address}:5672/",
            "my_ip": str(machine.address),
            "bind_host": str(machine.address),
            "osapi_compute_listen": str(machine.address),
            "glance_api_servers": f"http://{address}:9292",
        },
        "files": {"nas_host": str(address)},
        "ovs": {"bridge_mappings": ",".join(f"{network}:br-{network}" for network in physical_networks(machine))},
        **dict.fromkeys(CREDENTIALS, credentials),
    }
    return "".join(
        f"[{section}]\n" + "".join(f"{name} = {value}\n" for name, value in options.items())
        for section, options in sections.items()
    )


def physical_networks(machine: Machine) -> dict[str, str]:
    """What Neutron calls the networks that a hypervisor's machines reach, with its port to each."""
    networks = {"rnic": machine.rnics[0].name} if machine.rnics else {}
    networks |= {"control": CONTROL_PORT} if machine.control else {}
    return networks | ({"management": MACHINES_PORT} if machine.machines_link else {})


def wait_until_up(cloud: CloudPlan, state: StateDirectory) -> None:
    """Wait until every service answers, every hypervisor has joined and there is a place for volumes."""
    deadline = time.monotonic() + START_SECONDS
    while found := missing(cloud, state):
        if time.monotonic() > deadline:
            raise FloorError(f"{cloud.declared.name} is not up after {START_SECONDS:.0f} s: {'; '.join(found)}.")
        time.sleep(POLL_SECONDS)


def missing(cloud: CloudPlan, state: StateDirectory) -> list[str]:
    """What the cloud lacks, a few words each: services that do not answer, hypervisors that are not up."""
    address = cloud.declared.management
    silent = [f"{name} does not answer" for name, place in SERVICES.items() if not _answers(f"http://{address}{place}")]
    if silent:
        return silent
    try:
        token = _token(cloud, _passwords(cloud, state)["admin"])
        hypervisors = _get(f"http://{address}:8774/v2.1/os-hypervisors/detail", token)["hypervisors"]
        agents = _get(f"http://{address}:9696/v2.0/agents", token)["agents"]
        control = _get(f"http://{address}:9696/v2.0/networks?name=control", token)["networks"]
        # Before Cinder's scheduler has heard of one, a volume that somebody asks for ends as an error.
        pools = _get(f"http://{address}:8776/v3/scheduler-stats/get_pools", token)["pools"]
    except OSError as error:
        return [f"its services are not ready ({error})"]
    computing = {each["hypervisor_hostname"] for each in hypervisors if each["state"] == "up"}
    switching = {each["host"] for each in agents if each["alive"]}
    return [
        *(f"no nova-compute on {name}" for name in cloud.hypervisors if name not in computing),
        *(f"no agent of Neutron on {name}" for name in cloud.hypervisors if name not in switching),
        *([] if control else ["no control network"]),
        *([] if pools else ["no place for volumes"]),
    ]


def _passwords(cloud: CloudPlan, state: StateDirectory) -> dict[str, str]:
    """The passwords of the operator, the services, their messages, and of each user; made once."""
    directory = state.clouds / cloud.declared.name
    directory.mkdir(exist_ok=True)
    file = directory / "passwords.json"
    if not file.exists():
        owners = ("admin", "service", "messages", *(f"user {name}" for name in cloud.declared.users))
        write_private(file, json.dumps({owner: secrets.token_urlsafe(16) for owner in owners}, indent=2).encode())
    found: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
    return found


def _entries(cloud: CloudPlan, passwords: dict[str, str]) -> dict[str, Any]:
    """The entries of clouds.yaml: the operator's has the cloud's name; a user's project has the user's name."""
    users = {"admin": passwords["admin"], **{name: passwords[f"user {name}"] for name in cloud.declared.users}}
    return {
        cloud.declared.name if user == "admin" else f"{cloud.declared.name}-{user}": {
            "auth": {
                "auth_url": f"http://{cloud.declared.management}:5000/v3",
                "username": user,
                "password": password,
                "project_name": user,
                "user_domain_name": "Default",
                "project_domain_name": "Default",
            },
            "region_name": REGION,
            "identity_api_version": 3,
        }
        for user, password in users.items()
    }


def _environment(cloud: CloudPlan, machine: Machine, passwords: dict[str, str]) -> str:
    """What units of systemd have to know."""
    lines = {"ADDRESS": str(cloud.declared.management)}
    if machine.is_hypervisor:
        ports = (f"{network}={port}" for network, port in physical_networks(machine).items())
        lines["PORTS"] = f'"{" ".join(ports)}"'
    else:
        lines["OS_BOOTSTRAP_PASSWORD"] = passwords["admin"]
    return "".join(f"{name}={value}\n" for name, value in lines.items())


def _configure_services(cloud: CloudPlan, machine: Machine, passwords: dict[str, str], state: StateDirectory) -> None:
    """What only the machine with the services has to know."""
    directory = state.machine(machine.name)
    rabbitmq = {
        "listeners.tcp.default": f"{machine.address}:5672",
        "default_user": SERVICE_USER,
        "default_pass": passwords["messages"],
        "vm_memory_high_watermark.absolute": "256MiB",
    }
    write_private(
        directory / "rabbitmq.conf", "".join(f"{name} = {value}\n" for name, value in rabbitmq.items()).encode()
    )
    site = {
        "address": str(cloud.declared.management),
        "admin_password": passwords["admin"],
        "service_password": passwords["service"],
        "users": {name: passwords[f"user {name}"] for name in cloud.declared.users},
        "control": str(cloud.control.network),
        "machines": [str(cloud.control.machines[1]), str(cloud.control.machines[-2])],
    }
    if of_management := cloud.declared.management_machines:
        addresses = of_management.addresses
        site["management"] = str(of_management.network)
        site["management_machines"] = [str(addresses[1]), str(addresses[-2])]
    write_private(directory / "cloud.json", json.dumps(site, indent=2).encode())
    for kind in ("fernet-keys", "credential-keys"):
        keys = directory / kind
        keys.mkdir(exist_ok=True)
        for number in ("0", "1"):
            if not (keys / number).exists():
                write_private(keys / number, base64.urlsafe_b64encode(os.urandom(32)))


def _answers(url: str) -> bool:
    try:
        urllib.request.urlopen(url, timeout=ANSWER_SECONDS).close()
    except urllib.error.HTTPError as error:
        # A list of versions to choose from is 300, which is no failure.
        return error.code < 500
    except OSError:
        return False
    return True


def _token(cloud: CloudPlan, password: str) -> str:
    default = {"name": "Default"}
    user = {"name": "admin", "password": password, "domain": default}
    identity = {"methods": ["password"], "password": {"user": user}}
    body = {"auth": {"identity": identity, "scope": {"project": {"name": "admin", "domain": default}}}}
    request = urllib.request.Request(
        f"http://{cloud.declared.management}:5000/v3/auth/tokens",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:
        return str(answer.headers["X-Subject-Token"])


def _get(url: str, token: str) -> dict[str, Any]:
    request = urllib.request.Request(url, headers={"X-Auth-Token": token})
    with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:
        found: dict[str, Any] = json.load(answer)
        return found
