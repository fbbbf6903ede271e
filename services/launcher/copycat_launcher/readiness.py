"""Whether roles serve: gRPC health of a service, `GET /health` of the gateway; once, or until they do."""

from __future__ import annotations

import asyncio
import http.client
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path

from copycat_rest.advertised import local_url
from copycat_rpc.handshake import objection
from copycat_rpc.health import ask_at, until_serves
from copycat_rpc.role import own_properties, read_properties
from copycat_rpc.tls import ServicesTls, services_tls

from copycat_launcher.encryption import tls_of
from copycat_launcher.errors import UnfitError
from copycat_launcher.own_user import own_headers
from copycat_launcher.polling import until
from copycat_launcher.roles import GATEWAY, Role

ASK_SECONDS = 5.0
#: What a living gateway answers somebody whom a REST extension does not know.
GUARDED = frozenset({401, 403})


def probe(file: Path, roles: Sequence[Role]) -> None:
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


async def until_ready(role: Role, properties: Mapping[str, str]) -> None:
    """Return once the role with these properties answers that it serves; waits for ever.

    Raises:
        ConfigError: What is needed for TLS cannot be read.
    """
    if role is GATEWAY:
        await serves_rest(local_url(properties), _own_context(properties))
    else:
        await until_serves(role.address(properties), tls_of(properties))


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


def _obstacle(role: Role, properties: Mapping[str, str]) -> str:
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
