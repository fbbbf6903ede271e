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
from copycat_connect.first import unless
from copycat_connect.private_files import close_to_others, make_private
from copycat_embedded.ports import free_ports
from copycat_rest.advertised import local_url
from copycat_rest.contexts import own_context
from copycat_rpc.role import own_properties
from copycat_rpc.secret import cluster_secret, is_loopback, new_secret

from copycat_launcher.core import CORE, Core
from copycat_launcher.forwarding import Forwarder
from copycat_launcher.in_process import KeptRole, serve_of, stop_all
from copycat_launcher.misspelt import warnings_about
from copycat_launcher.roles import EXECUTOR, GATEWAY, SERVICES
from copycat_launcher.worker_properties import DISTRIBUTED, embedded_properties

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Place:
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
        self, kafka: Mapping[str, str], stop: asyncio.Event, ready: Callable[[Place], None]
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
            place = Place(
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


async def _started(roles: list[KeptRole], place: Place) -> None:
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
