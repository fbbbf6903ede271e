"""The secret of a cluster: its processes send it with every gRPC call and answer nobody without it."""

from __future__ import annotations

import hmac
import ipaddress
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import grpc
from copycat_connect.config import ConfigDef
from copycat_connect.config.worker_keys import CLUSTER_SECRET
from copycat_connect.errors import ConfigError, CopycatError, ErrorCode

from copycat_rpc.errors import to_status
from copycat_rpc.users.calls import UserCalls, user_token

log = logging.getLogger(__name__)

AUTHORIZATION_HEADER: Final = "authorization"
BEARER_SCHEME: Final = "Bearer "
#: Health is asked by probes and supervisors, which know no secret; it says whether a service serves, no more.
OPEN_TO_ALL: Final = "/grpc.health.v1.Health/"
WARNING_INTERVAL_SECONDS: Final = 60.0
NOTHING_SENT: Final = "it came without a secret"
NOTHING_WANTED: Final = "it came with a secret, and this service has none"
REFUSAL_LINE: Final = "refused a call of %s from %s: %s; %s must be the same in the whole cluster"
SOMETHING_ELSE_SENT: Final = "it came with another secret"


class UnauthenticatedError(CopycatError):
    """A call did not carry the secret of the service's cluster; it had no effect."""

    code = ErrorCode("rpc.unauthenticated", grpc="UNAUTHENTICATED", http=500)

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The call was refused: {reason}. Set {CLUSTER_SECRET.name} to the same text in the worker"
            " properties of every process of the cluster, and of its gRPC clients"
        )


def cluster_secret(properties: Mapping[str, str]) -> str:
    """Return the secret that a worker's properties name, placeholders resolved; empty where they name none.

    Raises:
        ConfigError: It is too short, or has characters that gRPC cannot carry.
    """
    found = ConfigDef(CLUSTER_SECRET).parse(properties)[CLUSTER_SECRET.name]
    return "" if found is None else str(found.value).strip()


def new_secret() -> str:
    """Return a secret nobody can guess."""
    return secrets.token_urlsafe(32)


def credentials(secret: str) -> tuple[tuple[str, str | bytes], ...]:
    """Return the metadata that carries a secret."""
    return ((AUTHORIZATION_HEADER, BEARER_SCHEME + secret),) if secret else ()


def check_listener(listen: str, secret: str, *, setting: str, asks_clients: bool = False) -> None:
    """Refuse to answer other machines without a secret, and warn of answering all users of this one.

    `asks_clients`: they show a certificate, so not all users of this machine are answered.

    Raises:
        ConfigError: The address is reachable from other machines and there is no secret.
    """
    if secret:
        return
    if not is_loopback(listen.rpartition(":")[0]):
        raise ConfigError(
            f"{setting}={listen} can be reached from other machines, and {CLUSTER_SECRET.name} is not set:"
            " whoever reaches it could read and change everything. Set it to the same long random text in the"
            f" worker properties of all processes of the cluster, or let {setting} name 127.0.0.1",
            key=CLUSTER_SECRET.name,
        )
    if asks_clients:
        return
    log.warning(
        "%s=%s answers every user of this machine: set %s in the worker properties to keep others out",
        *(setting, listen, CLUSTER_SECRET.name),
    )


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches an address; of names only `localhost` is one."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


class RareWarnings:
    """Logs a warning, and then none of the same key for a minute."""

    def __init__(self) -> None:
        self._quiet_until: dict[str, float] = {}

    def warn(self, key: str, text: str, *details: object) -> None:
        """Log it, unless one of this key was logged just now."""
        now = time.monotonic()
        if now >= self._quiet_until.get(key, 0.0):
            self._quiet_until[key] = now + WARNING_INTERVAL_SECONDS
            log.warning(text, *details)


class SecretCheck(grpc.aio.ServerInterceptor):
    """Refuses calls without the secret before anything of them is read, unknown methods too."""

    def __init__(self, secret: str, users: UserCalls | None = None) -> None:
        """Use the cluster's secret; without one, calls that carry one are refused: it was forgotten here.

        `users` answers those who bring a token instead of it.
        """
        self._cluster = secret
        self._users = users
        self._own: dict[str, str] = {}
        self._warnings = RareWarnings()

    def give_own(self, service: str, secret: str) -> None:
        """Let a service (its full proto name) be called with a secret of its own, not with the cluster's."""
        self._own[f"/{service}/"] = secret

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        """Go on with the call, or answer it with a refusal."""
        method, metadata = handler_call_details.method, handler_call_details.invocation_metadata
        reason = "" if method.startswith(OPEN_TO_ALL) else self._objection(method, metadata)
        if not reason:
            return await continuation(handler_call_details)
        if self._users is not None and (token := user_token(metadata)):
            return await self._users.answered(token, continuation, handler_call_details)

        async def refuse(_: Any, context: Any) -> Any:
            self._warnings.warn(reason, REFUSAL_LINE, method, context.peer(), reason, CLUSTER_SECRET.name)
            await context.abort(*to_status(UnauthenticatedError(reason)))

        # Whatever the method's shape: of this handler gRPC reads no request.
        return grpc.stream_stream_rpc_method_handler(refuse)

    def _objection(self, method: str, metadata: Any) -> str:
        service = f"{method.rpartition('/')[0]}/"
        wanted = self._own.get(service, self._cluster)
        given = [str(value) for key, value in metadata or () if key == AUTHORIZATION_HEADER]
        if not wanted:
            return NOTHING_WANTED if given else ""
        if not given:
            return NOTHING_SENT
        matches = hmac.compare_digest(given[0].encode(), (BEARER_SCHEME + wanted).encode())
        return "" if matches and len(given) == 1 else SOMETHING_ELSE_SENT
