"""A channel to one service: deadlines, retries where they are safe, coded errors, trace context."""

from __future__ import annotations

import asyncio
import json
import logging
import random
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from itertools import chain, repeat
from typing import Any, Final

import grpc
from copycat.config.v1 import config_service_pb2 as config_pb2
from copycat_connect.errors import CopycatError, NotWriterError, UnavailableError
from copycat_connect.retry import RetryPolicy
from copycat_telemetry.changes import asker_metadata
from copycat_telemetry.tracing import outgoing
from copycat_tls.material import Material

from copycat_rpc.errors import MAX_METADATA_BYTES, RemoteError, from_rpc_error
from copycat_rpc.gate import DrainingError
from copycat_rpc.handshake import objection
from copycat_rpc.methods import CALL_TIMEOUT_SECONDS, RepeatableError
from copycat_rpc.names import Names
from copycat_rpc.renewing import Opened, RenewingChannel, Traffic
from copycat_rpc.secret import RareWarnings, credentials
from copycat_rpc.server import MAX_MESSAGE_BYTES
from copycat_rpc.tls import ServicesTls, channel_credentials

log = logging.getLogger(__name__)

#: What a call ends with that got no connection.
_NO_CONNECTION: Final = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
#: Between two looks at why a connection is missing.
_LOOK_SECONDS: Final = 30.0


class _Refusals:
    """Decodes errors; warns of a service that refuses this process, or that it does not understand."""

    def __init__(self, addresses: Sequence[str], tls: ServicesTls | None) -> None:
        self._addresses = addresses
        self._target = ",".join(addresses)
        self._tls = tls
        self._warnings = RareWarnings()
        self._quiet_until = 0.0
        self._looking: asyncio.Task[None] | None = None

    def error_of(self, failure: grpc.aio.AioRpcError) -> CopycatError:
        """Return the exception that a failed call stands for."""
        if failure.code() is grpc.StatusCode.UNAUTHENTICATED:
            self._warnings.warn("refused", "refused by %s: %s", self._target, failure.details())
        elif failure.code() in _NO_CONNECTION:
            self._look()
        return from_rpc_error(failure, self._target)

    def _look(self) -> None:
        now = asyncio.get_running_loop().time()
        if now >= self._quiet_until:
            self._quiet_until = now + _LOOK_SECONDS
            self._looking = asyncio.create_task(self._warn_of_tls())

    async def _warn_of_tls(self) -> None:
        found = await asyncio.gather(*(objection(address, self._tls) for address in self._addresses))
        for address, reason in zip(self._addresses, found, strict=True):
            if reason:
                self._warnings.warn(reason, "no connection to %s: %s", address, reason)


#: What an instance says that has not begun with a call.
_REFUSAL_CODES: Final = frozenset({NotWriterError.code.name, DrainingError.code.name})
#: With this gRPC ends what is left at a server that has stopped. By then ours has ended every call that it
#: has begun with; rarely there is one that gRPC took and never handed over.
_LEFT_BEHIND: Final = "Cancelling all calls"
#: Calls whose names begin so have no effect: whether one was carried out makes no difference.
_READING_CALL_PREFIXES: Final = ("Get", "List", "Read")
#: Writes that state the whole of what is to be: the same one again changes nothing.
_IDEMPOTENT_WRITES: Final = frozenset({"PutConnector", "SetTargetState"})


def _was_refused(failure: grpc.aio.AioRpcError, error: CopycatError) -> bool:
    """Return whether no instance has begun with the call.

    A server of ours ends each call that it has taken with a status of its own, or its connection breaks
    (UNAVAILABLE). CANCELLED, where it was not us who cancelled, is what gRPC answers for a server that stops
    to calls which it has not handed over yet.
    """
    if isinstance(error, RemoteError):
        return error.remote_code.name in _REFUSAL_CODES
    return failure.code() is grpc.StatusCode.CANCELLED or failure.details() == _LEFT_BEHIND


def _may_be_repeated(
    method: str | bytes, request: Any, failure: grpc.aio.AioRpcError, error: CopycatError
) -> bool:
    """Return whether to send a call again though it may have been carried out: its instance went away."""
    lost = isinstance(error, UnavailableError) and failure.code() is grpc.StatusCode.UNAVAILABLE
    if not lost:
        return False
    name = (method.decode() if isinstance(method, bytes) else method).rpartition("/")[2]
    if isinstance(request, config_pb2.PutConnectorRequest) and request.create_only:
        return False
    return name.startswith(_READING_CALL_PREFIXES) or name in _IDEMPOTENT_WRITES


#: Unary calls of one channel under way at a time; further ones wait for their turn, and only then does their
#: deadline begin. gRPC's servers cancel new calls at random once a thousand wait to be taken up.
MAX_CONCURRENT_CALLS = 500
#: Between the tries of a call that may be repeated, once every instance was asked: a standby takes over.
CALL_RETRY = RetryPolicy(first=0.025, factor=2.0, ceiling=0.5, give_up_after=CALL_TIMEOUT_SECONDS, jitter=1.0)
CHANNEL_OPTIONS = (
    ("grpc.service_config", json.dumps({"loadBalancingConfig": [{"round_robin": {}}]})),
    # A container that starts again may have another address; gRPC would ask for it each 30 s.
    ("grpc.dns_min_time_between_resolutions_ms", 2000),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.keepalive_time_ms", 5000),
    ("grpc.keepalive_timeout_ms", 5000),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_metadata_size", MAX_METADATA_BYTES),
    ("grpc.enable_http_proxy", 0),
)


class _Unary(grpc.aio.UnaryUnaryClientInterceptor):
    """Sends one try of a call in its turn, and decodes its error."""

    def __init__(self, refusals: _Refusals, traffic: Traffic, secret: str, *, standby: bool) -> None:
        self._refusals = refusals
        self._traffic = traffic
        self._standby = standby
        self._credentials = credentials(secret)
        self._turns = asyncio.Semaphore(MAX_CONCURRENT_CALLS)

    async def intercept_unary_unary(
        self, continuation: Callable[..., Any], client_call_details: Any, request: Any
    ) -> Any:
        details = client_call_details._replace(
            metadata=grpc.aio.Metadata(
                *outgoing(client_call_details.metadata), *asker_metadata(), *self._credentials
            ),
            wait_for_ready=True,
        )
        try:
            async with self._turns:
                with self._traffic:
                    return await (await continuation(details, request))
        except grpc.aio.AioRpcError as failure:
            error = self._refusals.error_of(failure)
            refused = self._standby and _was_refused(failure, error)
            repeatable = refused or _may_be_repeated(details.method, request, failure, error)
        raise RepeatableError(error) if repeatable else error


class _Streams(grpc.aio.UnaryStreamClientInterceptor):
    """Decodes the error that ends a server's stream."""

    def __init__(self, refusals: _Refusals, traffic: Traffic, secret: str) -> None:
        self._refusals = refusals
        self._traffic = traffic
        self._credentials = credentials(secret)

    async def intercept_unary_stream(
        self, continuation: Callable[..., Any], client_call_details: Any, request: Any
    ) -> Any:
        metadata = grpc.aio.Metadata(*outgoing(client_call_details.metadata), *self._credentials)
        return _decoded(
            await continuation(client_call_details._replace(metadata=metadata), request),
            self._refusals,
            self._traffic,
        )


class _Duplex(grpc.aio.StreamStreamClientInterceptor):
    """Decodes the error that ends a stream of both sides."""

    def __init__(self, refusals: _Refusals, traffic: Traffic, secret: str) -> None:
        self._refusals = refusals
        self._traffic = traffic
        self._credentials = credentials(secret)

    async def intercept_stream_stream(
        self, continuation: Callable[..., Any], client_call_details: Any, request_iterator: Any
    ) -> Any:
        metadata = grpc.aio.Metadata(*(client_call_details.metadata or ()), *self._credentials)
        details = client_call_details._replace(metadata=metadata)
        return _decoded(await continuation(details, request_iterator), self._refusals, self._traffic)


async def _decoded(call: Any, refusals: _Refusals, traffic: Traffic) -> AsyncIterator[Any]:
    with traffic:
        try:
            async for response in call:
                yield response
        except grpc.aio.AioRpcError as failure:
            raise refusals.error_of(failure) from None
        finally:
            call.cancel()


def open_channel(
    addresses: Sequence[str],
    *,
    secret: str = "",
    tls: ServicesTls | None = None,
    standby: bool = True,
) -> grpc.aio.Channel:
    """Open a channel to the instances of one service (`host:port` each); every call carries the `secret`.

    A unary call waits for a connection within its deadline (10 s unless given), is repeated while instances
    refuse it because they are not the writer or stop, and raises `RemoteError` (the service's own code) or
    `UnavailableError`. When its instance went away a read is repeated, too, and so is a write whose
    repetition changes nothing. Nothing else is: its outcome is unknown. Without a `standby`, where nobody
    can answer in place of an instance that stops, a refusal is final. With `tls` it is encrypted; calls after
    a change of the certificates use the new ones. Host names are looked up at the start, for two seconds at
    most, and again while calls are made: one name may lead to several instances, not all of them there yet.
    """
    refusals = _Refusals(addresses, tls)

    def interceptors(traffic: Traffic) -> list[Any]:
        return [
            _Unary(refusals, traffic, secret, standby=standby),
            _Streams(refusals, traffic, secret),
            _Duplex(refusals, traffic, secret),
        ]

    def opened(basis: tuple[str, Material | None]) -> Opened:
        (target, material), traffic = basis, Traffic()
        if tls is None or material is None:
            plain = grpc.aio.insecure_channel(
                target, options=CHANNEL_OPTIONS, interceptors=interceptors(traffic)
            )
            return plain, traffic
        # Of several addresses gRPC makes one name, which no certificate bears.
        name = tls.target(addresses[0].rpartition(":")[0])
        options = (*CHANNEL_OPTIONS, ("grpc.ssl_target_name_override", name))
        known = channel_credentials(material)
        encrypted = grpc.aio.secure_channel(
            target, known, options=options, interceptors=interceptors(traffic)
        )
        return encrypted, traffic

    target = _target_of(addresses)
    names = Names(addresses) if target is None else None

    def basis() -> tuple[str, Material | None]:
        return names.target() if names else target or "", tls.current() if tls else None

    def waits() -> Iterator[float]:
        # Calls go to the instances in turn: the others are asked at once, later tries are spread.
        spread = CALL_RETRY.waits(random.random())  # noqa: S311 - guards nothing
        return chain(repeat(0.0, len(addresses) - 1), spread)

    return RenewingChannel(basis, opened, waits)


def _target_of(addresses: Sequence[str]) -> str | None:
    """Return gRPC's name for some addresses, or None where one is a name: gRPC looks a name up once.

    It does so again only when a connection breaks, and an instance that came back since stays unknown to it.
    """
    if all(_is_ipv4(address) for address in addresses):
        return f"ipv4:{','.join(addresses)}"
    return None


def _is_ipv4(address: str) -> bool:
    host = address.rpartition(":")[0]
    return host.replace(".", "").isdigit() and host.count(".") == 3
