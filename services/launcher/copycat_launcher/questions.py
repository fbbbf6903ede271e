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
from copycat_rpc.health import ask, health_channel

from copycat_launcher.encryption import tls_of
from copycat_launcher.hang_watch import Answer
from copycat_launcher.own_user import own_headers
from copycat_launcher.readiness import rest_opener  # noqa: TID253 - this module is imported late, too
from copycat_launcher.roles import GATEWAY, Role

_NO_ANSWERS: Final = {
    grpc.StatusCode.DEADLINE_EXCEEDED: Answer.MISSING,
    grpc.StatusCode.UNAVAILABLE: Answer.REFUSED,
}


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
        answer = _NO_ANSWERS.get((await ask(channel, seconds)).code, Answer.GIVEN)
        if answer is not Answer.GIVEN:  # the next process, or certificate, is met by a new connection
            self._channel = None
            await channel.close(None)
        return answer

    def _open(self) -> grpc.aio.Channel:
        properties = self._properties
        return health_channel(self._role.address(properties), tls_of(properties))


def _ask_rest(url: str, tls: ssl.SSLContext | None, seconds: float) -> Answer:
    # The gateway answers OPTIONS by itself, without asking the services, which may hang.
    asking = urllib.request.Request(f"{url}/", headers=own_headers(), method="OPTIONS")  # noqa: S310 - http(s) only
    try:
        rest_opener(tls).open(asking, timeout=seconds).close()
    except urllib.error.HTTPError as refusal:
        refusal.close()
    except (OSError, TimeoutError) as error:  # URLError is an OSError that holds the one that counts
        reason = getattr(error, "reason", error)
        return Answer.MISSING if isinstance(reason, TimeoutError) else Answer.REFUSED
    return Answer.GIVEN
