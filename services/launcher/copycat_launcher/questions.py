"""Ask a role whether it answers at all: any answer will do, as long as its event loop gave it."""

from __future__ import annotations

import asyncio
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Final

import grpc
from copycat_rest.advertised import local_url
from copycat_rest.contexts import own_context
from copycat_rpc.short import short_channel
from grpc_health.v1 import health_pb2, health_pb2_grpc

from copycat_launcher.encryption import tls_of
from copycat_launcher.hang_watch import Answer
from copycat_launcher.own_user import own_headers
from copycat_launcher.roles import GATEWAY, Role

# A subchannel of its own: one that is shared goes on waiting for a process that was frozen, and has ended.
_CHANNEL_OPTIONS: Final = (("grpc.enable_http_proxy", 0), ("grpc.use_local_subchannel_pool", 1))


class Questions:
    """Asks one role, over a connection kept while it answers: a new one costs more than the question."""

    def __init__(self, role: Role, properties: Mapping[str, str]) -> None:
        """Ask this role, at the address in the properties."""
        self._role = role
        self._properties = properties
        self._channel: grpc.aio.Channel | None = None

    async def ask(self, seconds: float) -> Answer:
        """Ask once, for so many seconds at most.

        Raises:
            ConfigError: What is needed for TLS cannot be read.
        """
        if self._role is GATEWAY:
            url, tls = local_url(self._properties), own_context(self._properties)
            return await asyncio.to_thread(_ask_rest, url, tls, seconds)
        channel = self._channel = self._channel or self._open()
        answer = await _ask_grpc(channel, seconds)
        if answer is not Answer.GIVEN:  # the next process, or certificate, is met by a new connection
            self._channel = None
            await channel.close(None)
        return answer

    def _open(self) -> grpc.aio.Channel:
        properties = self._properties
        return short_channel(self._role.address(properties), _CHANNEL_OPTIONS, tls_of(properties))


async def _ask_grpc(channel: grpc.aio.Channel, seconds: float) -> Answer:
    try:
        await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=seconds)
    except grpc.aio.AioRpcError as error:
        return _NO_ANSWERS.get(error.code(), Answer.GIVEN)
    return Answer.GIVEN


_NO_ANSWERS: Final = {
    grpc.StatusCode.DEADLINE_EXCEEDED: Answer.MISSING,
    grpc.StatusCode.UNAVAILABLE: Answer.REFUSED,
}


def _ask_rest(url: str, tls: ssl.SSLContext | None, seconds: float) -> Answer:
    # The gateway answers OPTIONS by itself, without asking the services, which may hang.
    asking = urllib.request.Request(f"{url}/", headers=own_headers(), method="OPTIONS")  # noqa: S310 - http(s) only
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=tls)
    )
    try:
        opener.open(asking, timeout=seconds).close()
    except urllib.error.HTTPError as refusal:
        refusal.close()
    except (OSError, TimeoutError) as error:  # URLError is an OSError that holds the one that counts
        reason = getattr(error, "reason", error)
        return Answer.MISSING if isinstance(reason, TimeoutError) else Answer.REFUSED
    return Answer.GIVEN
