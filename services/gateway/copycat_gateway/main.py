"""The gateway in a process: read the settings, bind the listeners, serve until asked to stop."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, contextmanager, suppress
from functools import partial

import uvicorn
from copycat_connect.errors import CopycatError
from copycat_rest.contexts import server_context
from copycat_rest.listeners import HTTPS, SCHEMES, Listener, nearest
from copycat_rpc.role import main as run
from copycat_rpc.role import own_properties
from copycat_tls.keys import Tls
from litestar.types import ASGIApp

from copycat_gateway.access.admission import open_admission
from copycat_gateway.app import TAKEN, Applications
from copycat_gateway.clients import Services, open_services
from copycat_gateway.edge.listeners import address, bind_all
from copycat_gateway.edge.protocol import timed_protocol
from copycat_gateway.extensions.cluster_state import LiveClusterState
from copycat_gateway.extensions.loading import Extensions, open_extensions
from copycat_gateway.settings import GatewaySettings, read_settings

DRAIN_SECONDS = 10
"""Seconds requests under way may still take after a stop."""
DATE_HEADER_SECONDS = 1
"""Seconds between two updates of the date header."""


class _Server(uvicorn.Server):
    """A server that leaves signals to whoever runs the gateway."""

    def __init__(self, app: ASGIApp, tls: ssl.SSLContext | None, request_timeout: float) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=timed_protocol(request_timeout),
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,  # whoever calls from this machine could name any address as his
                timeout_graceful_shutdown=DRAIN_SECONDS,
                ssl_context_factory=None if tls is None else lambda _, __: tls,
            )
        )
        self.up = asyncio.Event()
        self._ending = asyncio.Event()

    def end(self) -> None:
        """Accept no more requests and finish those under way."""
        self.should_exit = True
        self._ending.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals as they are: uvicorn would take them from whoever runs the gateway."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Say when connections are accepted."""
        await super().startup(sockets)
        self.up.set()

    async def main_loop(self) -> None:
        """Renew the date of responses each second; uvicorn's own loop wakes up ten times as often."""
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ending.wait(), DATE_HEADER_SECONDS)


def _silent(_address: str) -> None:
    pass


async def serve(
    properties: Mapping[str, str], stop: asyncio.Event, ready: Callable[[str], None] = _silent
) -> None:
    """Serve until `stop`, then let requests under way finish.

    Calls `ready` with the `host:port` of the first listener, with http if there is one, once all answer.

    Raises:
        ConfigError: A setting is wrong, a listener's address is taken, or it has no certificate to show.
        CopycatError: A listener ended on its own.
    """
    properties = own_properties(properties)
    settings = read_settings(properties)
    tls, admin_tls = _context(settings.tls), _context(settings.admin_tls)
    listeners, admin_listeners = settings.listeners, settings.admin_listeners or ()
    with ExitStack() as bound:
        rest = _closing(bound, bind_all(listeners))
        admin = _closing(bound, bind_all(admin_listeners))
        async with (
            open_services(
                settings.addresses,
                secret=settings.secret,
                tls=settings.services_tls,
                patience=settings.worker_wait,
                exactly_once_sources=settings.exactly_once_sources,
            ) as services,
            _extensions(settings, properties, services) as extensions,
        ):
            admission = bound.enter_context(
                open_admission(settings.access, extensions.authenticators, extensions.threads)
            )
            applications = Applications(settings, services, extensions, admission)
            made = partial(_servers, request_timeout=settings.request_timeout)
            servers = list(made(applications.rest(), listeners, rest, tls))
            if admin:
                servers += made(applications.admin(), admin_listeners, admin, admin_tls)
            shown = rest[listeners.index(nearest(listeners))]
            await _run(servers, stop, lambda: ready(address(shown)))


def _servers(
    app: ASGIApp,
    listeners: Sequence[Listener],
    sockets: Sequence[socket.socket],
    tls: ssl.SSLContext | None,
    *,
    request_timeout: float,
) -> Iterator[tuple[_Server, list[socket.socket]]]:
    """Make one server for all listeners of a scheme."""
    opened = list(zip(listeners, sockets, strict=True))
    for scheme in SCHEMES:
        mine = [each for listener, each in opened if listener.scheme == scheme]
        if mine:
            yield _Server(app, tls if scheme == HTTPS else None, request_timeout), mine


def _extensions(
    settings: GatewaySettings, properties: Mapping[str, str], services: Services
) -> AbstractAsyncContextManager[Extensions]:
    patience = min(settings.request_timeout, settings.rebalance_timeout)
    state = LiveClusterState(services, patience=patience)
    return open_extensions(
        settings.extensions, properties, state, taken=TAKEN, patience=settings.request_timeout
    )


async def _run(
    servers: Sequence[tuple[_Server, list[socket.socket]]], stop: asyncio.Event, ready: Callable[[], None]
) -> None:
    async with asyncio.TaskGroup() as group:
        running = [group.create_task(server.serve(sockets)) for server, sockets in servers]
        for server, _ in servers:
            await server.up.wait()
        ready()
        stopped = group.create_task(stop.wait())
        await asyncio.wait((stopped, *running), return_when=asyncio.FIRST_COMPLETED)
        ended = not stop.is_set()
        stopped.cancel()
        for server, _ in servers:
            server.end()
    if ended:
        raise CopycatError("A listener of the gateway ended on its own")


def _context(tls: Tls | None) -> ssl.SSLContext | None:
    return None if tls is None else server_context(tls)


def _closing(stack: ExitStack, sockets: Sequence[socket.socket]) -> list[socket.socket]:
    return [stack.enter_context(opened) for opened in sockets]


def main() -> int:
    """Run the gateway as `python -m copycat_gateway worker.properties`."""
    return run("gateway", serve)
