"""Ask roles how they are: whether they serve, once or until they do, and whether they answer at all.

A service is asked for its gRPC health, the gateway for `GET /health`.
"""

from __future__ import annotations

import asyncio
import http.client
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import grpc
from copycat_cli.credentials import own_headers
from copycat_rest.advertised import local_url
from copycat_rpc.handshake import objection
from copycat_rpc.health import ask, ask_at, health_channel, until_serves
from copycat_rpc.role import own_properties, read_properties
from copycat_rpc.tls import PREFIX, ServicesTls, services_tls

from copycat_launcher.errors import UnfitError
from copycat_launcher.hang_watch import ProbeResult
from copycat_launcher.polling import until
from copycat_launcher.roles import GATEWAY, ServiceRole


def _tls_of(properties: Mapping[str, str]) -> ServicesTls | None:
    """Return what `services.ssl.*` say, placeholders or not; nothing where gRPC is in plain text.

    Raises:
        ConfigError: A key is wrong, a store cannot be opened, or a config provider failed.
    """
    if not any(key.startswith(PREFIX) for key in properties):
        return None
    return _read_tls(tuple(sorted(properties.items())))


@lru_cache(maxsize=8)
def _read_tls(properties: tuple[tuple[str, str], ...]) -> ServicesTls | None:
    return services_tls(own_properties(dict(properties)))


ASK_SECONDS = 5.0
#: What a living gateway answers somebody whom a REST extension does not know.
GUARDED = frozenset({401, 403})


def probe(file: Path, roles: Sequence[ServiceRole]) -> None:
    """Return when every role answers, where the properties say, that it serves.

    Raises:
        ConfigError: The properties cannot be read.
        UnfitError: One does not; the text says which and what it answered.
    """
    properties = own_properties(read_properties(file))
    for role in roles:
        obstacle = _obstacle(role, properties)
        if obstacle:
            raise UnfitError(role.name, role.address(properties), obstacle)


async def until_ready(role: ServiceRole, properties: Mapping[str, str]) -> None:
    """Return once the role with these properties answers that it serves; waits for ever.

    Raises:
        ConfigError: What is needed for TLS cannot be read.
    """
    if role is GATEWAY:
        await serves_rest(local_url(properties), _own_context(properties))
    else:
        await until_serves(role.address(properties), _tls_of(properties))


async def serves_rest(url: str, tls: ssl.SSLContext | None = None) -> None:
    """Return once the gateway at this root says that it is healthy, or that it does not answer everybody.

    `tls`: what to call it with where its scheme is https.
    """
    headers = own_headers()

    async def healthy() -> bool:
        return not await asyncio.to_thread(_rest_obstacle, url, headers, tls)

    await until(healthy)


def rest_opener(tls: ssl.SSLContext | None) -> urllib.request.OpenerDirector:
    """Return what asks our own REST interface: past the proxies of the environment, which lead elsewhere."""
    return urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=tls)
    )


def _obstacle(role: ServiceRole, properties: Mapping[str, str]) -> str:
    if role is GATEWAY:
        return _rest_obstacle(local_url(properties), own_headers(), _own_context(properties))
    return asyncio.run(_service_obstacle(role.address(properties), services_tls(properties)))


async def _service_obstacle(address: str, tls: ServicesTls | None) -> str:
    answer = await ask_at(address, ASK_SECONDS, tls)
    if answer.came:
        return answer.reason
    why = await objection(address, tls)
    return answer.reason + (why and f" ({why})")


def _rest_obstacle(url: str, headers: Mapping[str, str], tls: ssl.SSLContext | None) -> str:
    asking = urllib.request.Request(f"{url}/health", headers=dict(headers))  # noqa: S310 - http(s) only
    try:
        with rest_opener(tls).open(asking, timeout=ASK_SECONDS):
            return ""
    except urllib.error.HTTPError as error:
        return "" if error.code in GUARDED else f"{error.code}: {error.read().decode('utf-8', 'replace')}"
    except (OSError, http.client.HTTPException) as error:
        return str(error) or type(error).__name__


def _own_context(properties: Mapping[str, str]) -> ssl.SSLContext | None:
    from copycat_rest.contexts import own_context  # noqa: PLC0415 - 30 ms, for the gateway alone

    return own_context(properties)


_NO_ANSWERS: Final = {
    grpc.StatusCode.DEADLINE_EXCEEDED: ProbeResult.MISSING,
    grpc.StatusCode.UNAVAILABLE: ProbeResult.REFUSED,
}


class Questions:
    """Asks one role, over a connection kept while it answers: a new one costs more than the question."""

    def __init__(self, role: ServiceRole, properties: Mapping[str, str]) -> None:
        """Ask this role, at the address in the properties."""
        self._role = role
        self._properties = properties
        self._channel: grpc.aio.Channel | None = None

    async def ask(self, seconds: float) -> ProbeResult:
        """Ask once, for so many seconds at most.

        Raises:
            ConfigError: What is needed for TLS cannot be read.
        """
        if self._role is GATEWAY:
            url, tls = local_url(self._properties), _own_context(self._properties)
            return await asyncio.to_thread(_ask_rest, url, tls, seconds)
        channel = self._channel = self._channel or self._open()
        answer = _NO_ANSWERS.get((await ask(channel, seconds)).code, ProbeResult.GIVEN)
        if answer is not ProbeResult.GIVEN:  # the next process, or certificate, is met by a new connection
            self._channel = None
            await channel.close(None)
        return answer

    def _open(self) -> grpc.aio.Channel:
        properties = self._properties
        return health_channel(self._role.address(properties), _tls_of(properties))


def _ask_rest(url: str, tls: ssl.SSLContext | None, seconds: float) -> ProbeResult:
    # The gateway answers OPTIONS by itself, without asking the services, which may hang.
    asking = urllib.request.Request(f"{url}/", headers=own_headers(), method="OPTIONS")  # noqa: S310 - http(s) only
    try:
        rest_opener(tls).open(asking, timeout=seconds).close()
    except urllib.error.HTTPError as refusal:
        refusal.close()
    except (OSError, TimeoutError) as error:  # URLError is an OSError that holds the one that counts
        reason = getattr(error, "reason", error)
        return ProbeResult.MISSING if isinstance(reason, TimeoutError) else ProbeResult.REFUSED
    return ProbeResult.GIVEN
