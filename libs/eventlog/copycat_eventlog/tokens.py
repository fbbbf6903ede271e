"""Tokens for aiokafka, which asks for them one by one where librdkafka gets its own."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import Any, Final

from aiokafka.abc import AbstractTokenProvider
from aiokafka.errors import KafkaConnectionError
from copycat_connect.config.login import OAuthLogin

#: For the endpoint to answer.
_SECONDS: Final = 10.0
_MAX_BYTES: Final = 1_000_000
#: Of its life a token is used for this part (Kafka's `sasl.login.refresh.window.factor`).
_USED: Final = 0.8
#: Of a token that does not say how long it lives.
_LIFE_SECONDS: Final = 60.0


class TokenProvider(AbstractTokenProvider):  # type: ignore[misc] # aiokafka has no types
    """Asks the endpoint for a token and keeps it for most of its life; any thread and event loop may ask."""

    def __init__(self, login: OAuthLogin) -> None:
        """Nothing is asked before the first connection."""
        self._login = login
        self._lock = threading.Lock()
        self._token = ""
        self._used_until = 0.0

    async def token(self) -> str:
        """Return a token that is valid.

        Raises:
            KafkaConnectionError: The endpoint does not give one; the client tries again.
        """
        return await asyncio.to_thread(self._current)

    def extensions(self) -> Mapping[str, str]:
        """Return what the broker gets beside the token."""
        return self._login.extensions

    def _current(self) -> str:
        with self._lock:
            if time.monotonic() >= self._used_until:
                self._token, seconds = self._asked()
                self._used_until = time.monotonic() + seconds * _USED
            return self._token

    def _asked(self) -> tuple[str, float]:
        """Ask; the reply's own text is not repeated, since it may hold secrets."""
        login = self._login
        form = {"grant_type": "client_credentials", **({"scope": login.scope} if login.scope else {})}
        known = ":".join(urllib.parse.quote(text, safe="") for text in (login.client_id, login.client_secret))
        request = urllib.request.Request(  # noqa: S310 - http(s) only, read_oauth sees to it
            login.endpoint,
            urllib.parse.urlencode(form).encode(),
            {
                "Authorization": f"Basic {base64.b64encode(known.encode()).decode()}",
                "Accept": "application/json",
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310 - likewise
                reply: Any = json.loads(answer.read(_MAX_BYTES))
        except urllib.error.HTTPError as error:
            error.close()
            raise self._failed(f"answers {error.code} to client {login.client_id}") from None
        except (OSError, ValueError) as error:
            raise self._failed(f"gives no token ({type(error).__name__})") from None
        token = reply.get("access_token") if isinstance(reply, dict) else None
        if not isinstance(token, str) or not token:
            raise self._failed("answers without an access_token")
        life = reply.get("expires_in")
        return token, float(life) if isinstance(life, int | float) else _LIFE_SECONDS

    def _failed(self, what: str) -> KafkaConnectionError:
        return KafkaConnectionError(f"The token endpoint {self._login.endpoint} {what}")
