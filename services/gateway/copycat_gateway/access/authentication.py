"""Who sends a request: found out by a token, or by the authenticators of REST extensions.

Extensions run in threads of their own, since author code blocks, and may hang.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from copycat_access.refusals import TokenRefusedError
from copycat_connect.errors import ConnectError, UnavailableError
from copycat_connect.plugin import Caller, RestAnswer, RestRequest
from copycat_connect.plugin.rest_extensions import Authenticator
from copycat_rest.answers import ErrorMessage

from copycat_gateway.edge.answers import to_json

if TYPE_CHECKING:
    from copycat_access.tokens import TokenCheck

R = TypeVar("R")
MAX_THREADS = 64
"""Calls that run at the same time."""


class AuthorThreads:
    """Runs calls of authors; one that hangs keeps no process from ending."""

    def __init__(self, most: int = MAX_THREADS) -> None:
        self._free = asyncio.Semaphore(most)

    async def run(self, call: Callable[[], R]) -> R:
        """Return what the call returns, or raise what it raises; whoever is cancelled leaves it to itself."""
        await self._free.acquire()
        return await self._started(call)

    def _started(self, call: Callable[[], R]) -> asyncio.Future[R]:
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[R] = loop.create_future()

        def settle(error: Exception | None, *result: R) -> None:
            self._free.release()
            if outcome.done():  # whoever waited has given up
                return
            if error is not None:
                outcome.set_exception(error)
            else:
                outcome.set_result(result[0])

        def work() -> None:
            try:
                ending = partial(settle, None, call())
            except BaseException as raised:  # the top of the thread: authors may raise anything
                ending = partial(settle, _an_error(raised))
            with suppress(RuntimeError):  # the gateway has ended meanwhile
                loop.call_soon_threadsafe(ending)

        threading.Thread(target=work, name="rest-extension", daemon=True).start()
        return outcome


def _an_error(raised: BaseException) -> Exception:
    """Return what a coroutine may raise: no exit of the process, no end of an iteration."""
    if isinstance(raised, Exception) and not isinstance(raised, StopIteration | StopAsyncIteration):
        return raised
    error = ConnectError(f"A REST extension raised {type(raised).__name__}")
    error.__cause__ = raised
    return error


BEARER: Final = "bearer"
REALM: Final = 'realm="copycat"'
NO_CREDENTIALS: Final = "Log in: the request came without a token or a password that is known here"
Known: TypeAlias = Caller | RestAnswer | None
"""Who it is, the refusal, or nothing: anybody may pass."""


class Authentication:
    """All that may say who calls; each is asked about requests of its scheme first."""

    def __init__(
        self, tokens: TokenCheck | None, authenticators: Mapping[str, Authenticator], threads: AuthorThreads
    ) -> None:
        """`authenticators`: those of extensions by scheme, in lower case; they run in `threads`."""
        self._tokens = tokens
        self._authenticators = authenticators
        self._threads = threads

    @property
    def is_wanted(self) -> bool:
        """True where somebody has to log in."""
        return self._tokens is not None or bool(self._authenticators)

    async def known(self, request: RestRequest) -> Known:
        """Return who sent a request, or the answer that it gets instead; nothing where anybody may pass."""
        scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
        scheme = scheme.lower()
        for each in self._in_turn(scheme):
            answer = await self._ask(each, request, credentials.strip() if scheme == BEARER else "")
            if isinstance(answer, RestAnswer):
                return self._challenging(answer, refused_token=each == scheme == BEARER)
            if answer is not None:
                return answer
        return None

    def _in_turn(self, scheme: str) -> Iterator[str]:
        schemes = [*self._authenticators, *([BEARER] if self._tokens is not None else [])]
        yield from sorted(schemes, key=lambda each: each != scheme)

    async def _ask(self, scheme: str, request: RestRequest, token: str) -> Known:
        if scheme != BEARER or self._tokens is None:
            return _checked(await self._threads.run(partial(self._authenticators[scheme], request)))
        if not token:
            return _refusal(401, NO_CREDENTIALS)
        try:
            return await self._tokens.caller(token)
        except TokenRefusedError as error:
            return _refusal(401, error.message)
        except UnavailableError as error:
            return _refusal(503, error.message)

    def _challenging(self, answer: RestAnswer, *, refused_token: bool) -> RestAnswer:
        """Say how to log in (RFC 9110), where tokens are accepted; without them as Kafka Connect does."""
        if answer.status != 401 or self._tokens is None:
            return answer
        bearer = f'Bearer {REALM}, error="invalid_token"' if refused_token else f"Bearer {REALM}"
        offered = ", ".join((bearer, *(f"{scheme.title()} {REALM}" for scheme in self._authenticators)))
        return replace(answer, headers={**answer.headers, "WWW-Authenticate": offered})


def _refusal(status: int, message: str) -> RestAnswer:
    return RestAnswer(status, to_json(ErrorMessage(status, message)))


def _checked(answer: object) -> Known:
    if answer is None or isinstance(answer, Caller | RestAnswer):
        return answer
    raise TypeError(
        f"an authenticator answered with {type(answer).__name__}, which is no Caller and no RestAnswer"
    )
