"""Wait until a role is ready: gRPC health of a service, `GET /health` of the gateway."""

from __future__ import annotations

import asyncio
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping

import grpc
from copycat_rpc.short import short_channel
from copycat_rpc.tls import ServicesTls
from grpc_health.v1 import health_pb2, health_pb2_grpc

from copycat_launcher.own_user import own_headers
from copycat_launcher.polling import until

ASK_SECONDS = 5.0
#: What a living gateway answers somebody whom a REST extension does not know.
GUARDED = frozenset({401, 403})
OPTIONS = (
    ("grpc.enable_http_proxy", 0),
    # Until it listens, it is tried again at this pace; one stream then has the rest.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 200),
)


async def serves_grpc(address: str, tls: ServicesTls | None = None) -> None:
    """Return once the service at host:port says SERVING; `tls`: what to call it with where it encrypts."""
    while True:
        async with short_channel(address, OPTIONS, tls) as channel:
            watch = health_pb2_grpc.HealthStub(channel).Watch(
                health_pb2.HealthCheckRequest(), wait_for_ready=True
            )
            try:
                async for answer in watch:
                    if answer.status == health_pb2.HealthCheckResponse.SERVING:
                        return
            except grpc.aio.AioRpcError:  # it ended meanwhile; whether it is started again others decide
                await asyncio.sleep(0.1)


async def serves_rest(url: str, tls: ssl.SSLContext | None = None) -> None:
    """Return once the gateway at this root says that it is healthy, or that it does not answer everybody.

    `tls`: what to call it with where its scheme is https.
    """
    headers = own_headers()

    async def healthy() -> bool:
        return await asyncio.to_thread(_healthy, url, headers, tls)

    await until(healthy)


def _healthy(url: str, headers: Mapping[str, str], tls: ssl.SSLContext | None) -> bool:
    asking = urllib.request.Request(f"{url}/health", headers=dict(headers))  # noqa: S310 - http(s) only
    try:
        with urllib.request.urlopen(asking, timeout=ASK_SECONDS, context=tls) as answer:  # noqa: S310 - likewise
            return bool(answer.status == 200)
    except urllib.error.HTTPError as refusal:
        return refusal.code in GUARDED
    except (urllib.error.URLError, OSError):
        return False
