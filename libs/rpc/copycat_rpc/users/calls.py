"""Answers calls that carry a user's token: checks it, then whether the user may make the call."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final

import grpc
from copycat_access.audit import Audit, AuditOutcome
from copycat_access.needs import Need, Scope, demand
from copycat_access.refusals import RoleNeededError
from copycat_access.roles import Role
from copycat_access.rules_file import RulesFile
from copycat_access.settings import read_access
from copycat_connect.cluster import Caller
from copycat_connect.errors import CopycatError
from copycat_telemetry.changes import ASKER_KEY, USER, Asker, asker_metadata, asking

from copycat_rpc.errors import to_status
from copycat_rpc.users.needs import CALL_NEEDS
from copycat_rpc.users.shown import SHOWN, SHOWN_WHOLE, Showing

if TYPE_CHECKING:
    from copycat_access.tokens import TokenCheck

AUTHORIZATION: Final = "authorization"
BEARER: Final = "bearer"
TOKEN_DOTS: Final = 2
"""In every signed token; a cluster's secret that has as many is no worse off than any wrong one."""
TOKEN_RECHECK_SECONDS: Final = 10.0
"""A watch may outlive what opened it, token and roles: so often at most they are looked at again."""
Continuation = Callable[[grpc.HandlerCallDetails], Awaitable[Any]]


def user_token(metadata: Any) -> str:
    """Return the token that a call carries; empty where it carries none, or something else."""
    given = [str(value) for key, value in metadata or () if key == AUTHORIZATION]
    scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    return token.strip() if scheme.lower() == BEARER and token.count(".") == TOKEN_DOTS else ""


class UserCalls:
    """Lets users call what their roles allow."""

    def __init__(
        self, tokens: TokenCheck, rules: RulesFile | None, audit: Audit, recheck_seconds: float
    ) -> None:
        """Without `rules` every user may make all calls that users may make."""
        self._tokens = tokens
        self._rules = rules
        self._audit = audit
        self.recheck_seconds = recheck_seconds
        """For so long a stream goes on before its token is looked at again."""

    async def answered(self, token: str, continuation: Continuation, details: grpc.HandlerCallDetails) -> Any:
        """Return what answers the call, or refuses it before anything of it is done."""
        need = CALL_NEEDS.get(details.method)
        try:
            caller = await self._tokens.caller(token)
        except CopycatError as error:
            return self._refusing(error, details.method, None, need)
        if need is None or not _is_said_what_is_shown(details.method, need):
            denied = RoleNeededError(
                Role.ADMIN, f"{details.method}, which asks for the secret instead", caller
            )
            return self._refusing(denied, details.method, caller, need)
        handler = await continuation(_as_user(details, caller))
        if handler is None or handler.request_streaming:  # nobody serves it here
            return handler
        one = _Call(self, details.method, need, caller, token)
        if handler.response_streaming:
            return grpc.unary_stream_rpc_method_handler(
                one.streaming(handler.unary_stream), handler.request_deserializer, handler.response_serializer
            )
        return grpc.unary_unary_rpc_method_handler(
            one.answering(handler.unary_unary), handler.request_deserializer, handler.response_serializer
        )

    def demand(self, need: Need, caller: Caller, connector: str) -> None:
        """Let the call go on.

        Raises:
            RoleNeededError: The caller lacks the role.
        """
        if self._rules is not None:
            demand(self._rules.rules(), caller, need, connector)

    def showing(self, method: str, need: Need, caller: Caller) -> Callable[[Any], Any]:
        """Return what makes of an answer what a caller gets of it, by the rules of that moment."""
        keep = SHOWN.get(method)
        if keep is None or self._rules is None:
            return lambda response: response
        return Showing(keep, self._rules.rules, caller, need.role)

    async def check(self, token: str) -> None:
        """Let a stream go on.

        Raises:
            CopycatError: The token is no longer good.
        """
        await self._tokens.caller(token)

    def write(self, outcome: AuditOutcome, **about: object) -> None:
        """Write a line of the audit."""
        self._audit.write(outcome, **about)

    def _refusing(self, error: CopycatError, method: str, caller: Caller | None, need: Need | None) -> Any:
        async def refuse(_: Any, context: Any) -> Any:
            by = None if caller is None else caller.name
            act = "" if need is None else need.act
            self.write(
                AuditOutcome.DENIED, by=by, address=context.peer(), act=act, call=method, why=error.message
            )
            await context.abort(*to_status(error))

        # Whatever the method's shape: of this handler gRPC reads no request.
        return grpc.stream_stream_rpc_method_handler(refuse)


class _Call:
    """One call of a user."""

    def __init__(self, users: UserCalls, method: str, need: Need, caller: Caller, token: str) -> None:
        self._users = users
        self._method = method
        self._need = need
        self._caller = caller
        self._token = token
        self._shown = users.showing(method, need, caller)

    def answering(self, behaviour: Callable[..., Any]) -> Callable[..., Any]:
        """Return what answers with one message."""

        async def answer(request: Any, context: Any) -> Any:
            connector = await self._let_in(request, context)
            outcome = AuditOutcome.FAILED
            try:
                made = await behaviour(request, context)
                outcome = AuditOutcome.ALLOWED
                return self._shown(made)
            finally:
                if self._need.act:
                    self._write(outcome, context, connector)

        return answer

    def streaming(self, behaviour: Callable[..., Any]) -> Callable[..., Any]:
        """Return what answers with many; no such call acts."""

        async def stream(request: Any, context: Any) -> AsyncIterator[Any]:
            await self._let_in(request, context)
            checked = time.monotonic()
            # Closed at once: a watch that is ended here must hold back no changes.
            async with aclosing(behaviour(request, context)) as responses:
                async for response in responses:
                    if time.monotonic() - checked > self._users.recheck_seconds:
                        await self._let_in_again(request, context)
                        checked = time.monotonic()
                    shown = self._shown(response)
                    if shown is not None:
                        yield shown
                    else:
                        await asyncio.sleep(0)  # a snapshot that shows nothing must not hold up all others

        return stream

    async def _let_in_again(self, request: Any, context: Any) -> None:
        """End a stream whose token has expired, is of a key that was withdrawn, or lost all its roles."""
        try:
            await self._users.check(self._token)
        except CopycatError as error:
            await context.abort(*to_status(error))
        await self._let_in(request, context)

    async def _let_in(self, request: Any, context: Any) -> str:
        """Return the connector that a call names, or end the call."""
        connector = _connector(request) if self._need.scope is Scope.CONNECTOR else ""
        try:
            self._users.demand(self._need, self._caller, connector)
        except RoleNeededError as error:
            self._write(AuditOutcome.DENIED, context, connector, why=error.message)
            await context.abort(*to_status(error))
        return connector

    def _write(self, outcome: AuditOutcome, context: Any, connector: str, why: str = "") -> None:
        self._users.write(
            outcome,
            by=self._caller.name,
            address=context.peer(),
            act=self._need.act,
            connector=connector,
            call=self._method,
            why=why,
        )


def _is_said_what_is_shown(method: str, need: Need) -> bool:
    return need.scope is not Scope.ANYWHERE or method in SHOWN or method in SHOWN_WHOLE


def _connector(request: Any) -> str:
    """Return the connector that a request names: in `connector`, `instance`, or `name` in calls of config."""
    if hasattr(request, "instance"):
        return str(request.instance.connector)
    return str(request.connector if hasattr(request, "connector") else request.name)


def _as_user(details: Any, caller: Caller) -> Any:
    """Return the call as it goes on: asked for by the user, whatever it says itself."""
    with asking(Asker(USER, caller.name)):
        own = asker_metadata()
    kept = [each for each in details.invocation_metadata or () if each[0] not in (ASKER_KEY, AUTHORIZATION)]
    return type(details)(details.method, (*kept, *own))  # gRPC goes on with its own kind only


def user_calls(
    properties: Mapping[str, str], service: str, *, recheck_seconds: float = TOKEN_RECHECK_SECONDS
) -> UserCalls | None:
    """Return what answers users, as the worker properties say; nothing where no tokens are accepted.

    Raises:
        ConfigError: A setting is wrong, or names a file that cannot be used.
    """
    settings = read_access(properties)
    if settings.tokens is None:
        return None
    from copycat_access.tokens import TokenCheck  # noqa: PLC0415 - 340 ms, where tokens are accepted

    rules = None if settings.rules_file is None else RulesFile(settings.rules_file)
    return UserCalls(TokenCheck(settings.tokens), rules, Audit(service, settings.audit_file), recheck_seconds)
