"""Whether a service serves, as its own health check says, or why it does not answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from copycat_rpc.tls import ServicesTls, channel_credentials

_STATUS: Final = health_pb2.HealthCheckResponse
_DIRECT: Final = (("grpc.enable_http_proxy", 0),)
#: A subchannel of its own: one that is shared goes on waiting for a process that was frozen, and has ended.
_APART: Final = (*_DIRECT, ("grpc.use_local_subchannel_pool", 1))
_PATIENT: Final = (
    *_DIRECT,
    # Until it listens, it is tried again at this pace; one stream then has the rest.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 200),
)


@dataclass(frozen=True, slots=True)
class HealthAnswer:
    """What a service said of itself, or how the question failed."""

    serves: bool
    code: grpc.StatusCode
    """How the call ended."""
    reason: str
    """Why it does not serve; empty where it does."""

    @property
    def came(self) -> bool:
        """Whether it answered at all, whatever it said of itself."""
        return self.code is grpc.StatusCode.OK


def health_channel(
    address: str, tls: ServicesTls | None, options: Sequence[tuple[str, Any]] = _APART
) -> grpc.aio.Channel:
    """Open a channel to `host:port` without deadline, retry or secret, encrypted where there is `tls`."""
    if tls is None:
        return grpc.aio.insecure_channel(address, options=options)
    name = tls.target(address.rpartition(":")[0])
    options = (*options, ("grpc.ssl_target_name_override", name))
    return grpc.aio.secure_channel(address, channel_credentials(tls.current()), options=options)


async def ask(channel: grpc.aio.Channel, seconds: float) -> HealthAnswer:
    """Ask the service at the other end of a channel once, for so many seconds at most."""
    check = health_pb2_grpc.HealthStub(channel).Check
    try:
        reply = await check(health_pb2.HealthCheckRequest(), timeout=seconds)
    except grpc.aio.AioRpcError as error:
        return HealthAnswer(False, error.code(), f"{error.code().name}: {error.details()}")
    serves = reply.status == _STATUS.SERVING
    return HealthAnswer(
        serves, grpc.StatusCode.OK, "" if serves else _STATUS.ServingStatus.Name(reply.status)
    )


async def ask_at(address: str, seconds: float, tls: ServicesTls | None = None) -> HealthAnswer:
    """Ask the service at `host:port` once, over a connection of its own."""
    async with health_channel(address, tls) as channel:
        return await ask(channel, seconds)


async def serves(address: str, timeout: float, *, tls: ServicesTls | None = None) -> bool:
    """Return whether a service at `host:port` answers within some seconds that it serves."""
    return (await ask_at(address, timeout, tls)).serves


async def until_serves(address: str, tls: ServicesTls | None = None) -> None:
    """Return once the service at `host:port` says that it serves; waits for ever."""
    while True:
        async with health_channel(address, tls, _PATIENT) as channel:
            watch = health_pb2_grpc.HealthStub(channel).Watch(
                health_pb2.HealthCheckRequest(), wait_for_ready=True
            )
            try:
                async for answer in watch:
                    if answer.status == _STATUS.SERVING:
                        return
            except grpc.aio.AioRpcError:  # it ended meanwhile; whether it is started again others decide
                await asyncio.sleep(0.1)
