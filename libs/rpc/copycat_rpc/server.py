"""A gRPC server with what every service needs: health, reflection, coded errors, trace context."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import grpc
from copycat_connect.errors import ConfigError, CopycatError
from copycat_telemetry.changes import asker_of, asking
from copycat_telemetry.tracing import incoming
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2_grpc

from copycat_rpc.errors import MAX_METADATA_BYTES, Status, to_status
from copycat_rpc.gate import Gate
from copycat_rpc.secret import SecretCheck, check_listener
from copycat_rpc.tls import ServicesTls
from copycat_rpc.users.calls import UserCalls

log = logging.getLogger(__name__)


class _FoundByName:
    """Stands for a gRPC server where one is filled, and leaves out that its methods are registered, too.

    For each registered method gRPC's server waits by itself, besides the one wait for calls of all others.
    A server that stops lets go of all its waits at once (grpcio 1.85, `AioServer._server_main_loop`): of
    several, one may just have taken a call, which is then answered by nobody; call and stop last until the
    call's deadline. Of one wait nothing is lost.
    """

    def __init__(self, server: grpc.aio.Server) -> None:
        self._server = server

    def add_generic_rpc_handlers(self, handlers: Sequence[grpc.GenericRpcHandler[Any, Any]]) -> None:
        """Let methods be found by their names."""
        self._server.add_generic_rpc_handlers(handlers)

    def add_registered_method_handlers(self, service: str, handlers: Mapping[str, Any]) -> None:
        """Do nothing: the same methods are found by their names."""


#: For the answers of calls that are given up.
_GIVE_UP_SECONDS: Final = 1.0
#: What a call ends with that took too long: no code, as from an instance that is gone, for what became of it
#: is unknown.
_GIVEN_UP: Final[Status] = (
    grpc.StatusCode.UNAVAILABLE,
    "The service stopped before the call was done; it may or may not have had an effect",
    (),
)


class _UnderWay:
    """Enter it with each call."""

    def __init__(self) -> None:
        """No call is under way."""
        self._calls: set[asyncio.Task[Any]] = set()
        self._none = asyncio.Event()
        self._none.set()
        self.given_up = False
        """Whether calls that are cancelled now were given up, rather than cancelled by their callers."""

    async def finish(self, within: float) -> None:
        """Wait until every call is answered; those that are not within some seconds are given up."""
        if await self._ended(within):
            return
        log.warning("%d calls are given up: they were not done %g s after the stop", len(self._calls), within)
        self.given_up = True
        for call in self._calls:
            call.cancel()
        await self._ended(_GIVE_UP_SECONDS)

    async def _ended(self, within: float) -> bool:
        try:
            async with asyncio.timeout(within):
                await self._none.wait()
        except TimeoutError:
            return False
        return True

    def __enter__(self) -> _UnderWay:
        call = asyncio.current_task()
        if call is not None:
            self._calls.add(call)
            self._none.clear()
        return self

    def __exit__(self, *_: object) -> None:
        call = asyncio.current_task()
        if call is not None:
            self._calls.discard(call)
        if not self._calls:
            self._none.set()


#: Of one request or reply.
MAX_MESSAGE_BYTES = 64 * 1024 * 1024
CALL_KINDS = ("unary_unary", "unary_stream", "stream_unary", "stream_stream")
SERVER_OPTIONS = (
    ("grpc.so_reuseport", 0),  # a second server on the port must fail, not share it
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_metadata_size", MAX_METADATA_BYTES),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_ping_interval_without_data_ms", 1000),
    ("grpc.http2.max_ping_strikes", 0),
)


class _Errors(grpc.aio.ServerInterceptor):
    """Runs each call under the caller's trace and turns what it raises into a coded status."""

    def __init__(self, gate: Gate, under_way: _UnderWay) -> None:
        self._gate = gate
        self._under_way = under_way

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        kind, behaviour = next(
            (kind, behaviour) for kind in CALL_KINDS if (behaviour := getattr(handler, kind))
        )
        if kind.endswith("_stream"):
            wrapped = _streaming(behaviour, handler_call_details, self._gate)
        else:
            wrapped = _answering(behaviour, handler_call_details, self._gate, self._under_way)
        return getattr(grpc, f"{kind}_rpc_method_handler")(
            wrapped,
            request_deserializer=handler.request_deserializer,
            response_serializer=handler.response_serializer,
        )


def _answering(
    behaviour: Callable[..., Any], details: grpc.HandlerCallDetails, gate: Gate, under_way: _UnderWay
) -> Callable[..., Any]:
    async def answer(request: Any, context: Any) -> Any:
        with under_way:
            try:
                await gate.passed(details.method)
                asker = asker_of(details.invocation_metadata)
                method = details.method.removeprefix("/")
                with incoming(method, details.invocation_metadata), asking(asker):
                    return await behaviour(request, context)
            except asyncio.CancelledError:
                if not under_way.given_up:
                    raise
                status = _GIVEN_UP
            except Exception as error:  # the top of the call
                status = _status(details.method, error)
            del request  # see _status
            return await context.abort(*status)

    return answer


def _streaming(
    behaviour: Callable[..., Any], details: grpc.HandlerCallDetails, gate: Gate
) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(behaviour):  # writes to its context, as gRPC's own health service does
        return _answering(behaviour, details, gate, _UnderWay())  # nobody waits for its end

    async def stream(request: Any, context: Any) -> AsyncIterator[Any]:
        try:
            await gate.passed(details.method)
            async for response in behaviour(request, context):
                yield response
        except Exception as error:  # the top of the call
            status = _status(details.method, error)
        else:
            return
        del request  # see _status
        await context.abort(*status)

    return stream


def _status(method: str, error: Exception) -> Status:
    """Return what a call that raised is aborted with, once the error is let go of and with it the request.

    A call and its abort refer to each other in gRPC: what the abort's frames or the error in hand at that
    moment refer to (megabytes, of a large request) would wait with them for the garbage collector.
    """
    if isinstance(error, grpc.aio.AbortError):
        raise error
    if not isinstance(error, CopycatError):
        log.error("unexpected error in %s", method, exc_info=error)
        error = CopycatError(f"Internal error ({type(error).__name__}); the service's log has the trace")
    return to_status(error)


class RpcServer:
    """One listening port; add servicers, start, say when it is fit to serve, stop."""

    def __init__(
        self,
        listen: str,
        *,
        setting: str = "listen",
        secret: str = "",
        users: UserCalls | None = None,
        tls: ServicesTls | None = None,
        trusted: str = "",
        standby: bool = False,
    ) -> None:
        """Prepare a server for `host:port`; port 0 picks a free one. `setting` is the key an error names.

        With a `secret` whoever calls must send it, except for health checks, and for those who bring a
        token that `users` accepts. With `tls` it is encrypted; `trusted`, PEM text, are certificates of
        clients that this very server accepts besides those of `tls`. With a `standby` another instance
        answers in place of this one when it stops (`Gate`).
        """
        self._listen = listen
        self._setting = setting
        self._secret = secret
        self._tls = tls
        self._trusted = trusted
        self._gate = Gate(standby=standby)
        self._under_way = _UnderWay()
        self._check = SecretCheck(secret, users)
        self._server = grpc.aio.server(
            interceptors=[self._check, _Errors(self._gate, self._under_way)], options=SERVER_OPTIONS
        )
        self._health = health.aio.HealthServicer()  # type: ignore[attr-defined] # missing in its stubs
        self._filled = _FoundByName(self._server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._filled)
        self._names = [health.SERVICE_NAME, reflection.SERVICE_NAME]
        self._bound: str | None = None
        self._started = False

    def add(
        self, adder: Callable[[Any, Any], None], servicer: object, full_name: str, *, secret: str = ""
    ) -> None:
        """Serve a servicer; `full_name` is its proto name, for reflection.

        With a `secret` of its own it is called with that one, and not with the server's.
        """
        if secret:
            self._check.give_own(full_name, secret)
        adder(servicer, self._filled)
        self._names.append(full_name)

    def bind(self) -> str:
        """Bind the port before `start`, for servicers that need to know it; returns `host:port` as bound.

        Nobody is answered until `start`.

        Raises:
            ConfigError: The address is taken or cannot be bound, or other machines reach it and there is no
                secret.
        """
        if self._bound is not None:
            return self._bound
        asks = self._tls is not None and self._tls.asks_clients
        check_listener(self._listen, self._secret, setting=self._setting, asks_clients=asks)
        host = self._listen.rpartition(":")[0]
        try:
            port = self._add_port()
        except RuntimeError as error:
            raise ConfigError(
                f"Cannot listen on {self._listen}: the address is in use or not of this machine;"
                f" set {self._setting} to a free host:port",
                key=self._setting,
            ) from error
        self._bound = f"{host}:{port}"
        return self._bound

    def _add_port(self) -> int:
        if self._tls is None:
            return self._server.add_insecure_port(self._listen)
        return self._server.add_secure_port(self._listen, self._tls.server_credentials(self._trusted))

    async def start(self) -> str:
        """Listen; returns `host:port` as bound. Health says NOT_SERVING until `set_serving(True)`.

        Raises:
            ConfigError: The address is taken or cannot be bound, or other machines reach it and there is no
                secret.
        """
        address = self.bind()
        # Its stubs do not say that the asynchronous servicer is for others.
        described = reflection.aio.ReflectionServicer(self._names)  # type: ignore[attr-defined]
        reflection_pb2_grpc.add_ServerReflectionServicer_to_server(described, self._filled)
        await self.set_serving(False)
        await self._server.start()
        self._started = True
        return address

    def hold(self) -> None:
        """Make calls wait until `set_serving(True)`; health and reflection answer all the same."""
        self._gate.hold()

    async def set_serving(self, serving: bool) -> None:
        """Set what health checks answer; once true, calls held until now go through."""
        if serving:
            self._gate.open()
        status = health_pb2.HealthCheckResponse
        await self._health.set("", status.SERVING if serving else status.NOT_SERVING)

    async def drain(self, within: float) -> None:
        """Refuse new calls, in a way that callers turn to another instance, and finish those under way.

        Unary calls that are not done within so many seconds are given up. Streams go on: whoever feeds them
        ends them. The server still listens, and refuses, until it is stopped. Health says NOT_SERVING.
        """
        self._gate.end()
        await self._health.enter_graceful_shutdown()
        await self._under_way.finish(within)

    async def stop(self, grace: float) -> None:
        """Drain within `grace` seconds unless that was done, then end; streams may go on as long again."""
        await self.drain(grace)
        if self._bound is not None and not self._started:
            await self._server.start()  # gRPC gives a port back only once it was served
        await self._server.stop(grace)
