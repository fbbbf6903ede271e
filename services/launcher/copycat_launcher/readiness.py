"""Ask a role whether it is ready: gRPC health of a service, `GET /health` of the gateway."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

ASK_SECONDS = 2.0


async def serves_grpc(address: str) -> bool:
    """Tell whether the service at host:port says SERVING now."""
    options = (("grpc.enable_http_proxy", 0),)
    async with grpc.aio.insecure_channel(address, options=options) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        try:
            answer = await stub.Check(health_pb2.HealthCheckRequest(), timeout=ASK_SECONDS)
        except grpc.aio.AioRpcError:
            return False
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


async def serves_rest(url: str) -> bool:
    """Tell whether the gateway at this root says that it is healthy now."""
    return await asyncio.to_thread(_healthy, url)


def _healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=ASK_SECONDS) as answer:  # noqa: S310 - http(s) only
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
