"""Ask running roles whether they are fit to serve, for whoever looks after their processes."""

from __future__ import annotations

import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path

import grpc
from copycat_connect.config.placeholders import Placeholders
from copycat_rpc.role import read_properties
from grpc_health.v1 import health_pb2, health_pb2_grpc

from copycat_launcher.errors import UnfitError
from copycat_launcher.roles import GATEWAY, Role

ASK_SECONDS = 5.0
OPTIONS = (("grpc.enable_http_proxy", 0),)


def probe(file: Path, roles: Sequence[Role]) -> None:
    """Return when every role answers, where the properties say, that it serves.

    Raises:
        ConfigError: The properties cannot be read.
        UnfitError: One does not; the text says which and what it answered.
    """
    given = read_properties(file)
    properties = Placeholders.from_worker(given, os.environ).resolve_own(given)
    for role in roles:
        obstacle = _asked(role, properties)
        if obstacle:
            raise UnfitError(role.name, role.address(properties), obstacle)


def _asked(role: Role, properties: Mapping[str, str]) -> str:
    address = role.address(properties)
    return _ask_rest(address) if role is GATEWAY else _ask_grpc(address)


def _ask_grpc(address: str) -> str:
    with grpc.insecure_channel(address, options=OPTIONS) as channel:
        try:
            answer = health_pb2_grpc.HealthStub(channel).Check(
                health_pb2.HealthCheckRequest(), timeout=ASK_SECONDS
            )
        except grpc.RpcError as error:
            return f"{error.code().name}: {error.details()}"
    status = health_pb2.HealthCheckResponse.ServingStatus
    return "" if answer.status == status.SERVING else status.Name(answer.status)


def _ask_rest(address: str) -> str:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://{address}/health", timeout=ASK_SECONDS):
            return ""
    except urllib.error.HTTPError as error:
        return f"{error.code}: {error.read().decode('utf-8', 'replace')}"
    except (OSError, http.client.HTTPException) as error:
        return str(error)
