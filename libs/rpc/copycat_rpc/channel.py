"""A channel to one service: deadlines, retries where they are safe, coded errors, trace context."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable, Sequence
from itertools import chain, repeat
from typing import Any

import grpc
from copycat_connect.errors import CopycatError, NotWriterError, UnavailableError
from copycat_connect.retry import RetryPolicy
from copycat_telemetry.tracing import outgoing

from copycat_rpc.errors import MAX_METADATA_BYTES, RemoteError, from_rpc_error
from copycat_rpc.secret import RareWarnings, credentials
from copycat_rpc.server import MAX_MESSAGE_BYTES

#: For calls that name no deadline of their own.
CALL_TIMEOUT_SECONDS = 10.0
#: Unary calls of one channel under way at a time; further ones wait for their turn, and only then does their
#: deadline begin. gRPC's servers cancel new calls at random once a thousand wait to be taken up.
MAX_CONCURRENT_CALLS = 500
#: Calls whose names begin so have no effect: whether one was carried out makes no difference.
READING_CALL_PREFIXES = ("Get", "List", "Read")
#: A call ends with these when its instance goes away or stops; CANCELLED counts unless we cancelled it here.
LOST_INSTANCE_CODES = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
#: Between the tries of a call that may be repeated, once every instance was asked: a standby takes over.
CALL_RETRY = RetryPolicy(first=0.025, factor=2.0, ceiling=0.5, give_up_after=CALL_TIMEOUT_SECONDS, jitter=1.0)
CHANNEL_OPTIONS = (
    ("grpc.service_config", json.dumps({"loadBalancingConfig": [{"round_robin": {}}]})),
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


class _Errors:
    """Decodes errors of one channel's calls; warns in this process's log of a service that refuses it."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._warnings = RareWarnings()

    def error_of(self, failure: grpc.aio.AioRpcError) -> CopycatError:
        """Return the exception that a failed call stands for."""
        if failure.code() is grpc.StatusCode.UNAUTHENTICATED:
            self._warnings.warn("refused", "refused by %s: %s", self._target, failure.details())
        return from_rpc_error(failure, self._target)


class _Unary(grpc.aio.UnaryUnaryClientInterceptor):
    """Gives a call its deadline, sends it on to an instance that can answer it, decodes its error."""

    def __init__(self, target: str, others: int, secret: str) -> None:
        self._errors = _Errors(target)
        self._others = others
        self._credentials = credentials(secret)
        self._turns = asyncio.Semaphore(MAX_CONCURRENT_CALLS)

    async def intercept_unary_unary(
        self, continuation: Callable[..., Any], client_call_details: Any, request: Any
    ) -> Any:
        details = client_call_details._replace(
            timeout=client_call_details.timeout or CALL_TIMEOUT_SECONDS,
            metadata=grpc.aio.Metadata(*outgoing(client_call_details.metadata), *self._credentials),
            wait_for_ready=True,
        )
        # Calls go to the instances in turn: the others are asked at once, later tries are spread.
        spread = CALL_RETRY.waits(random.random())  # noqa: S311 - guards nothing
        waits = chain(repeat(0.0, self._others), spread)
        while True:
            try:
                async with self._turns:
                    return await (await continuation(details, request))
            except grpc.aio.AioRpcError as failure:
                error = self._errors.error_of(failure)
                repeatable = _refused(error) or (_reads(details.method) and _lost(failure, error))
            wait = next(waits, None) if repeatable else None
            if wait is None:
                raise error
            await asyncio.sleep(wait)


def _refused(error: CopycatError) -> bool:
    """Whether a standby answered, without any effect."""
    return isinstance(error, RemoteError) and error.remote_code.name == NotWriterError.code.name


def _lost(failure: grpc.aio.AioRpcError, error: CopycatError) -> bool:
    """Whether an instance went away, or ended the call, before it answered."""
    return isinstance(error, UnavailableError) and failure.code() in LOST_INSTANCE_CODES


def _reads(method: str | bytes) -> bool:
    path = method.decode() if isinstance(method, bytes) else method
    return path.rpartition("/")[2].startswith(READING_CALL_PREFIXES)


class _Streams(grpc.aio.UnaryStreamClientInterceptor):
    """Decodes the error that ends a server's stream."""

    def __init__(self, target: str, secret: str) -> None:
        self._errors = _Errors(target)
        self._credentials = credentials(secret)

    async def intercept_unary_stream(
        self, continuation: Callable[..., Any], client_call_details: Any, request: Any
    ) -> Any:
        metadata = grpc.aio.Metadata(*outgoing(client_call_details.metadata), *self._credentials)
        return _decoded(
            await continuation(client_call_details._replace(metadata=metadata), request), self._errors
        )


class _Duplex(grpc.aio.StreamStreamClientInterceptor):
    """Decodes the error that ends a stream of both sides."""

    def __init__(self, target: str, secret: str) -> None:
        self._errors = _Errors(target)
        self._credentials = credentials(secret)

    async def intercept_stream_stream(
        self, continuation: Callable[..., Any], client_call_details: Any, request_iterator: Any
    ) -> Any:
        metadata = grpc.aio.Metadata(*(client_call_details.metadata or ()), *self._credentials)
        details = client_call_details._replace(metadata=metadata)
        return _decoded(await continuation(details, request_iterator), self._errors)


async def _decoded(call: Any, errors: _Errors) -> AsyncIterator[Any]:
    try:
        async for response in call:
            yield response
    except grpc.aio.AioRpcError as failure:
        raise errors.error_of(failure) from None
    finally:
        call.cancel()


def open_channel(addresses: Sequence[str], *, secret: str = "") -> grpc.aio.Channel:
    """Open a channel to the instances of one service (`host:port` each); every call carries the `secret`.

    A unary call waits for a connection within its deadline (10 s unless given), is repeated while instances
    answer that they are not the writer, and raises `RemoteError` (the service's own code) or
    `UnavailableError`. A read is repeated, too, when its instance went away. Nothing else is: its outcome is
    unknown.
    """
    named = ",".join(addresses)
    target = f"ipv4:{named}" if all(_is_ipv4(address) for address in addresses) else f"dns:///{addresses[0]}"
    interceptors: list[Any] = [
        _Unary(named, len(addresses) - 1, secret),
        _Streams(named, secret),
        _Duplex(named, secret),
    ]
    return grpc.aio.insecure_channel(target, options=CHANNEL_OPTIONS, interceptors=interceptors)


def _is_ipv4(address: str) -> bool:
    host = address.rpartition(":")[0]
    return host.replace(".", "").isdigit() and host.count(".") == 3
