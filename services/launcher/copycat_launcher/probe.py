"""Ask running roles whether they are fit to serve, for whoever looks after their processes."""

from __future__ import annotations

import asyncio
import http.client
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path

import grpc
from copycat_rest.advertised import local_url
from copycat_rpc.handshake import objection
from copycat_rpc.role import own_properties, read_properties
from copycat_rpc.short import short_blocking_channel
from copycat_rpc.tls import ServicesTls, services_tls
from grpc_health.v1 import health_pb2, health_pb2_grpc

from copycat_launcher.errors import UnfitError
from copycat_launcher.own_user import own_headers
from copycat_launcher.readiness import GUARDED
from copycat_launcher.roles import GATEWAY, Role

ASK_SECONDS = 5.0
OPTIONS = (("grpc.enable_http_proxy", 0),)


def probe(file: Path, roles: Sequence[Role]) -> None:
    """Return when every role answers, where the properties say, that it serves.

    Raises:
        ConfigError: The properties cannot be read.
        UnfitError: One does not; the text says which and what it answered.
    """
    properties = own_properties(read_properties(file))
    for role in roles:
        obstacle = _asked(role, properties)
        if obstacle:
            raise UnfitError(role.name, role.address(properties), obstacle)


def _asked(role: Role, properties: Mapping[str, str]) -> str:
    if role is not GATEWAY:
        return _ask_grpc(role.address(properties), services_tls(properties))
    from copycat_rest.contexts import own_context  # noqa: PLC0415 - 30 ms a check, for the gateway alone

    return _ask_rest(local_url(properties), own_context(properties))


def _ask_grpc(address: str, tls: ServicesTls | None) -> str:
    with short_blocking_channel(address, OPTIONS, tls) as channel:
        try:
            answer = health_pb2_grpc.HealthStub(channel).Check(
                health_pb2.HealthCheckRequest(), timeout=ASK_SECONDS
            )
        except grpc.RpcError as error:
            why = asyncio.run(objection(address, tls))
            return f"{error.code().name}: {error.details()}{why and f' ({why})'}"
    status = health_pb2.HealthCheckResponse.ServingStatus
    return "" if answer.status == status.SERVING else status.Name(answer.status)


def _ask_rest(url: str, tls: ssl.SSLContext | None) -> str:
    asking = urllib.request.Request(f"{url}/health", headers=own_headers())  # noqa: S310 - http(s) only
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=tls)
    )
    try:
        with opener.open(asking, timeout=ASK_SECONDS):
            return ""
    except urllib.error.HTTPError as error:
        return "" if error.code in GUARDED else f"{error.code}: {error.read().decode('utf-8', 'replace')}"
    except (OSError, http.client.HTTPException) as error:
        return str(error)
