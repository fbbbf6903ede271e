"""Whether an instance of a role serves, as its own health check says."""

from __future__ import annotations

import urllib.error
import urllib.request

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

ASK_SECONDS = 2.0


def serves(role: str, address: str) -> bool:
    """Return whether the role that listens at `host:port` says that it serves."""
    return _gateway_serves(f"http://{address}") if role == "gateway" else _service_serves(address)


def _service_serves(address: str) -> bool:
    with grpc.insecure_channel(address) as channel:
        try:
            answer = health_pb2_grpc.HealthStub(channel).Check(
                health_pb2.HealthCheckRequest(), timeout=ASK_SECONDS
            )
        except grpc.RpcError:
            return False
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


def _gateway_serves(root: str) -> bool:
    try:
        with urllib.request.urlopen(f"{root}/health", timeout=ASK_SECONDS) as answer:  # noqa: S310 - the tests' own
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
