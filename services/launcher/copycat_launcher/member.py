"""One copy of an embedded Copycat: a worker, the REST interface, and a part in running the services."""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from copycat_connect.config.client_overrides import EMBEDDED_SERVERS
from copycat_connect.config.worker_keys import CLUSTER_SECRET
from copycat_connect.errors import ConfigError
from copycat_connect.files import close_to_others, make_private
from copycat_connect.first import first, unless
from copycat_embedded.ports import free_ports
from copycat_rest.advertised import local_url
from copycat_rest.contexts import own_context
from copycat_rpc.role import own_properties
from copycat_rpc.secret import cluster_secret, is_loopback, new_secret

from copycat_launcher.core import CORE, Core
from copycat_launcher.in_process import KeptRole, serve_of, stop_all
from copycat_launcher.misspelt import warnings_about
from copycat_launcher.roles import EXECUTOR, GATEWAY, SERVICES
from copycat_launcher.worker_properties import DISTRIBUTED, embedded_properties

_LOOPBACK = "127.0.0.1"
_CHUNK_BYTES = 64 * 1024


class Forwarder:
    """Listens on loopback and passes bytes on; knows nothing of what they mean.

    gRPC's channels take their addresses once. Behind a forwarder the callers of this process keep one address
    for ever, and a lost connection, which they know how to mend, is all they notice of a move.
    """

    def __init__(self) -> None:
        """Listen nowhere yet."""
        self._server: asyncio.Server | None = None
        self._target = ""
        self._links: set[asyncio.Task[None]] = set()

    async def start(self) -> str:
        """Listen; returns the `host:port` that stands for the service."""
        self._server = await asyncio.start_server(self._accept, _LOOPBACK, 0)
        return f"{_LOOPBACK}:{self._server.sockets[0].getsockname()[1]}"

    def lead_to(self, target: str) -> None:
        """Pass connections on to `host:port` from now on; those that lead elsewhere are cut."""
        if target != self._target:
            self._target = target
            self._cut()

    async def stop(self) -> None:
        """Accept no more connections and cut the present ones."""
        if self._server is not None:
            self._server.close()
        links = tuple(self._links)
        self._cut()
        await asyncio.gather(*links, return_exceptions=True)

    def _cut(self) -> None:
        for link in self._links:
            link.cancel()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        link = asyncio.create_task(_link(self._target, reader, writer))
        self._links.add(link)
        link.add_done_callback(self._links.discard)


async def _link(target: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Join a connection to a new one, until either side ends."""
    host, _, port = target.rpartition(":")
    try:
        far_reader, far_writer = await asyncio.open_connection(host, port)
    except OSError:  # nobody is there at the moment; the caller tries again
        writer.close()
        return
    except asyncio.CancelledError:
        writer.close()
        raise
    try:
        await first(_pump(reader, far_writer), _pump(far_reader, writer))
    finally:
        writer.close()
        far_writer.close()


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while chunk := await source.read(_CHUNK_BYTES):
            target.write(chunk)
            await target.drain()
    except ConnectionError:
        return  # one side is gone, which ends the other


log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MemberAddress:
    """Where a copy is found."""

    bootstrap_servers: str
    """The Kafka it works on, for the application's own clients: an embedded one asks them for no login."""
    rest_url: str
    """Root of its REST interface."""
    addresses: Mapping[str, str]
    """Where this process reaches each service over gRPC, by role: config, offset, status, scheduler."""
    worker_id: str
    """The name of its worker."""
    secret: str = field(repr=False)
    """What those services ask of a gRPC client, as `authorization: Bearer <secret>`."""
    tls: ssl.SSLContext | None = None
    """What this process calls its REST interface with; nothing where that is http."""


@dataclass(frozen=True, slots=True)
class Member:
    """The settings of one copy."""

    app_id: str
    """Names the cluster it belongs to."""
    host: str
    """At which name or address other copies reach it."""
    settings: Mapping[str, str]
    """Worker properties that win over ours."""
    folder: Path
    """What copies of this app id on this machine share: their secret."""

    async def serve(
        self, kafka: Mapping[str, str], stop: asyncio.Event, ready: Callable[[MemberAddress], None]
    ) -> None:
        """Work until `stop`, then drain; calls `ready` once everything answers.

        `kafka`: `bootstrap.servers`, and with what to log in there where it is an embedded one.

        Raises:
            CopycatError: A setting is wrong, or something did not start.
        """
        rest_port, executor_port, *ports = free_ports(2 + len(SERVICES))
        mine = {role.name: f"{self.host}:{port}" for role, port in zip(SERVICES, ports, strict=True)}
        async with AsyncExitStack() as stack:
            forwarders = {role.name: Forwarder() for role in SERVICES}
            addresses = {}
            for name, forwarder in forwarders.items():
                stack.push_async_callback(forwarder.stop)
                addresses[name] = await forwarder.start()
            properties = embedded_properties(
                self.app_id,
                kafka["bootstrap.servers"],
                {**kafka, **self.settings},
                rest_port=rest_port,
                executor=f"{self.host}:{executor_port}",
                services=addresses,
                secret=self._secret(),
            )
            DISTRIBUTED.parse(properties)
            for warning in await asyncio.to_thread(warnings_about, self.settings):
                log.warning("%s", warning)
            place = MemberAddress(
                kafka.get(EMBEDDED_SERVERS) or kafka["bootstrap.servers"],
                local_url(properties),
                addresses,
                EXECUTOR.address(properties),
                cluster_secret(own_properties(properties)),
                own_context(properties),
            )

            def found(where: Mapping[str, str]) -> None:
                for name, address in where.items():
                    forwarders[name].lead_to(address)

            roles = [
                KeptRole(CORE, Core(mine, found).serve, properties),
                *(KeptRole(role, serve_of(role), properties) for role in (EXECUTOR, GATEWAY)),
            ]
            stack.push_async_callback(stop_all, roles)
            if await unless(_started(roles, place), stop):
                ready(place)
                await stop.wait()

    def _secret(self) -> str:
        """Return the secret of our own where the application names none.

        Raises:
            ConfigError: Copies on other machines are expected, which cannot know it.
        """
        if CLUSTER_SECRET.name in self.settings:
            return ""
        if not is_loopback(self.host):
            raise ConfigError(
                f"Copies on other machines reach this one at {self.host}, and {CLUSTER_SECRET.name} is not"
                " set: give every copy the same long random text as"
                f" settings={{'{CLUSTER_SECRET.name}': ...}}",
                key=CLUSTER_SECRET.name,
            )
        return shared_secret(self.folder)


async def _started(roles: list[KeptRole], place: MemberAddress) -> None:
    await asyncio.gather(*(role.ready() for role in roles))
    from copycat_launcher.readiness import serves_rest  # 50 ms, spent while the roles start

    await serves_rest(place.rest_url, place.tls)


def shared_secret(folder: Path) -> str:
    """Return the secret kept in a folder; whoever comes first makes it, and all get the same.

    Raises:
        ConfigError: The folder cannot be used.
    """
    file = folder / CLUSTER_SECRET.name
    try:
        if not folder.is_dir():
            make_private(folder)
        if not file.exists():
            _offer(file)
        close_to_others(file)
        return file.read_text("ascii").strip()
    except OSError as error:
        raise ConfigError(
            f"The secret of the cluster cannot be kept in {file} ({error.strerror}). Name a folder you may"
            f" write, or set {CLUSTER_SECRET.name}",
            key=CLUSTER_SECRET.name,
        ) from error


def _offer(file: Path) -> None:
    """Write a new secret unless another process is quicker; a link makes the whole file appear, or fails."""
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")  # for its owner only
    mine = Path(name)
    with os.fdopen(descriptor, "w", encoding="ascii") as half:
        half.write(f"{new_secret()}\n")
    try:
        file.hardlink_to(mine)
    except FileExistsError:
        return
    finally:
        mine.unlink()
