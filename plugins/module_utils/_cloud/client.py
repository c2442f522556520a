# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests to the services of a cloud by openstacksdk, which brings the token, the catalog and the versions."""

from __future__ import annotations

import logging
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Sequence, TypeVar
from urllib.parse import urlsplit

from .._plan.converge import DeviceError
from .messages import SERVICES, answered, no_sdk, silent

try:
    import openstack
    import openstack.version
    from keystoneauth1.exceptions import ClientException, Unauthorized
    from openstack.exceptions import SDKException

    RELEASE = openstack.version.__version__
except ImportError:
    RELEASE = ""

# What the SDK has to say is in its errors; without a handler it says it on standard error, too.
for _logger in ("keystoneauth", "openstack"):
    logging.getLogger(_logger).addHandler(logging.NullHandler())

OLDEST, TOO_NEW = (4, 4), (4, 8)
# Old enough for every Nova since Queens, new enough for a flavor's name in servers and extra specs in lists.
MICROVERSIONS = {"compute": "2.61", "placement": "1.17", "block_storage": "3.42"}
SECONDS = 60
SIDE_BY_SIDE = 8
_LARGEST_PAGE = 1000

Answer = TypeVar("Answer")


class ServiceError(DeviceError):
    """A service that does not answer, or answers with an error."""

    def __init__(self, service: str, message: str) -> None:
        super().__init__(message)
        self.service = service


def connect(entry: str) -> Cloud:
    """The cloud of an entry of clouds.yaml, with a token.

    Raises:
        DeviceError: no openstacksdk, no such file or entry, or Keystone does not let the operator in.
    """
    if not RELEASE:
        raise DeviceError(no_sdk("not installed"))
    if not OLDEST <= tuple(int(part) for part in RELEASE.split(".")[:2]) < TOO_NEW:
        raise DeviceError(no_sdk(RELEASE))
    file = os.environ.get("OS_CLIENT_CONFIG_FILE", "")
    # The look and the tasks of a run work in different folders, and the SDK passes over a file that is not there.
    if file and not os.path.isabs(file):
        raise DeviceError(f"cloud {entry}: OS_CLIENT_CONFIG_FILE is {file}; give its whole path, which begins with /")
    if file and not os.path.exists(file):
        raise DeviceError(f"cloud {entry}: OS_CLIENT_CONFIG_FILE is {file}, which is not there; correct it")
    try:
        connection = openstack.connect(cloud=entry, api_timeout=SECONDS)
    except SDKException as error:
        said = str(error).rstrip(".")
        raise DeviceError(f"cloud {entry}: {said}; correct its entry in clouds.yaml") from error
    cloud = Cloud(connection, entry)
    cloud.authorize()
    return cloud


class Cloud:
    """A connection with the token of one project.

    ``requests`` counts what was asked of services, without the token and the versions, which are asked once.
    """

    def __init__(self, connection: Any, entry: str) -> None:
        self.entry = entry
        self.requests = 0
        self._connection = connection
        self._of_projects: dict[str, Cloud] = {}

    @property
    def user_id(self) -> str:
        """The id of the operator's user."""
        return str(self._connection.session.auth.get_user_id(self._connection.session))

    @property
    def project_id(self) -> str:
        """The id of the project that the token is of."""
        return str(self._connection.session.auth.get_project_id(self._connection.session))

    def authorize(self) -> None:
        """Get a token, and find each service in the catalog."""
        try:
            self._connection.authorize()
        except (SDKException, ClientException) as error:
            cause = error.__cause__ if isinstance(error, SDKException) and error.__cause__ else error
            if isinstance(cause, Unauthorized) or "401" in str(error):
                raise DeviceError(f"cloud {self.entry}: {answered('identity', 'log in', 401, '')}") from error
            raise DeviceError(f"cloud {self.entry}: {silent('identity', 'log in', str(error))}") from error

    def as_project(self, project_id: str) -> Cloud:
        """The same cloud with a token of another project, in which the operator has a role."""
        if project_id == self.project_id:
            return self
        if project_id not in self._of_projects:
            other = Cloud(self._connection.connect_as_project({"id": project_id}), self.entry)
            other.authorize()
            self._of_projects[project_id] = other
        return self._of_projects[project_id]

    def request(
        self, service: str, method: str, path: str, doing: str, missing: Any = None, secret: str = "", **more: Any
    ) -> Any:
        """Send one request, and return the JSON of the answer.

        Args:
            service: its type.
            method: of HTTP.
            path: below the service's endpoint.
            doing: what for, as in "Nova answered 409 when asked to DOING".
            missing: what to return where the answer is 404; an error, if that is None.
            secret: what is sent and not quoted, since services quote what they do not take.
            more: ``json``, ``data``, ``headers``.

        Raises:
            DeviceError: the service does not answer, or answers with an error.
        """
        self.requests += 1
        try:
            proxy = getattr(self._connection, service)
            proxy_options = {"microversion": MICROVERSIONS[service]} if service in MICROVERSIONS else {}
            response = proxy.request(path, method, skip_cache=True, **proxy_options, **more)
        except Unauthorized as error:
            # The token has ended, and Keystone gives no other.
            said = answered("identity", f"let the operator {doing}", 401, "")
            raise ServiceError("identity", f"cloud {self.entry}: {said}") from error
        except (SDKException, ClientException) as error:
            raise ServiceError(service, f"cloud {self.entry}: {silent(service, doing, str(error))}") from error
        if response.status_code == 404 and missing is not None:
            return missing
        if response.status_code >= 400:
            text = response.text.replace(secret, "...") if secret else response.text
            said = answered(service, doing, response.status_code, text)
            raise ServiceError(service, f"cloud {self.entry}: {said}")
        return response.json() if response.content and "json" in response.headers.get("Content-Type", "") else {}

    def get(self, service: str, path: str, missing: Any = None) -> Any:
        """Read one thing."""
        return self.request(service, "GET", path, f"read {path.split('?', maxsplit=1)[0].strip('/')}", missing)

    def list(self, service: str, path: str, key: str) -> list[dict[str, Any]]:
        """Read a whole list, page by page where the service cuts it."""
        found: list[dict[str, Any]] = []
        following = path
        while following:
            answer = self.get(service, following)
            if not isinstance(answer, dict) or not isinstance(answer.get(key), list):
                raise DeviceError(
                    f"cloud {self.entry}: the answer of {SERVICES[service]} to {path} has no list {key}; see what "
                    "answers at its endpoint"
                )
            found += answer[key]
            following = _next_page(answer, key, following)
        return found


def side_by_side(calls: Sequence[Callable[[], Answer]]) -> list[Answer]:
    """The results of calls that wait for services, in their order; or the first error of each service."""
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        futures = [pool.submit(call) for call in calls]
    errors = [future.exception() for future in futures]
    said: dict[str, str] = {}
    for error in errors:
        if isinstance(error, ServiceError):
            said.setdefault(error.service, str(error))
        elif error is not None:
            raise error
    if said:
        raise DeviceError("; ".join(said.values()))
    return [future.result() for future in futures]


def page_size(path: str) -> str:
    """The path of a list, with as large a page as services give."""
    return f"{path}{'&' if '?' in path else '?'}limit={_LARGEST_PAGE}"


def _next_page(answer: dict[str, Any], key: str, path: str) -> str:
    """The path of the page that follows; empty after the last one."""
    link = answer.get("next") or next(
        (each["href"] for each in answer.get(f"{key}_links") or () if each.get("rel") == "next"), ""
    )
    query = urlsplit(link).query if isinstance(link, str) else ""
    return f"{path.split('?', maxsplit=1)[0]}?{query}" if query else ""
