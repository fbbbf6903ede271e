"""From `rest.extension.classes` to filters and resources, before the first request is answered."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from copycat_connect.errors import ConfigError
from copycat_connect.plugin import Plugins, RestExtension, load_plugins
from copycat_connect.plugin.loading import reason_of
from copycat_connect.plugin.rest_extensions import Authenticator, ClusterState, RequestFilter, Resource

from copycat_gateway.access.threads import AuthorThreads
from copycat_gateway.extensions.installed import KEY, Installed
from copycat_gateway.extensions.resources import Resources

log = logging.getLogger(__name__)

CLOSE_TIMEOUT_SECONDS: Final = 10.0
"""Seconds an extension may take to close."""


@dataclass(slots=True)
class Context:
    """What extensions register with; all of them share one."""

    cluster_state: ClusterState
    """The cluster."""
    resources: Resources
    """What they answer."""
    authenticators: dict[str, Authenticator] = field(default_factory=dict)
    """What says who calls, by scheme in lower case, in its order."""
    filters: list[RequestFilter] = field(default_factory=list)
    """What sees every request, in its order."""

    def add_authenticator(self, scheme: str, authenticate: Authenticator) -> None:
        """Let a function say who calls."""
        if scheme.lower() in self.authenticators:
            raise ConfigError(f"another extension has the scheme {scheme} already: name one of them only")
        self.authenticators[scheme.lower()] = authenticate

    def add_filter(self, decide: RequestFilter) -> None:
        """Let a function see every request."""
        self.filters.append(decide)

    def add_resource(self, method: str, path: str, answer: Resource) -> None:
        """Answer a method and path."""
        self.resources.add(method, path, answer)


@dataclass(frozen=True, slots=True)
class Extensions:
    """What the extensions have registered, and where their code runs."""

    authenticators: Mapping[str, Authenticator]
    """What says who calls, by scheme in lower case, in its order."""
    filters: Sequence[RequestFilter]
    """What sees every request, in its order."""
    resources: Resources
    """What they answer."""
    threads: AuthorThreads
    """Where all of it runs."""
    patience: float
    """Seconds a call may take."""

    @property
    def are_any(self) -> bool:
        """True where they have anything to say to a request."""
        return bool(self.authenticators or self.filters or not self.resources.are_none)


@asynccontextmanager
async def open_extensions(
    names: Sequence[str],
    properties: Mapping[str, str],
    cluster_state: ClusterState,
    *,
    taken: Iterable[tuple[str, str]],
    patience: float,
) -> AsyncIterator[Extensions]:
    """Start the extensions in their order and close them at the end; where none is named, nothing is loaded.

    Args:
        names: Class names or aliases.
        properties: The worker's.
        cluster_state: What they may ask.
        taken: Method and path of what the interface itself answers.
        patience: Seconds any call of theirs may take.

    Raises:
        ConfigError: One is unknown, or failed to configure or to register.
    """
    threads, context = AuthorThreads(), Context(cluster_state, Resources(taken))
    found = await _installed(threads, patience) if names else Installed(Plugins(()))
    started: list[tuple[str, RestExtension]] = []

    def start(name: str) -> None:
        extension = found.made(name)
        started.append((name, extension))
        extension.configure(dict(properties))
        extension.register(context)

    try:
        for name in names:
            await _carefully(threads, name, partial(start, name), patience)
        yield Extensions(context.authenticators, tuple(context.filters), context.resources, threads, patience)
    finally:
        for name, extension in started:
            await _close(threads, name, extension)


async def _installed(threads: AuthorThreads, patience: float) -> Installed:
    """Load the plugins; one that hangs while it is imported is left to its thread and done without.

    Raises:
        ConfigError: No thread was free to load them in time.
    """
    hanging: dict[str, str] = {}
    while True:
        begun: list[str] = []
        load = partial(load_plugins, failed_before=dict(hanging), loading=begun.append)
        loaded, seen = asyncio.ensure_future(threads.run(load)), -1
        while not loaded.done() and len(begun) > seen:
            seen = len(begun)
            await asyncio.wait((loaded,), timeout=patience)
        if loaded.done():
            return Installed(await loaded)
        loaded.cancel()
        if not begun:
            raise ConfigError(f"{KEY} is set, but the plugins did not load within {patience:g} s", key=KEY)
        log.warning("the plugin %s did not load within %g s and is left out", begun[-1], patience)
        hanging[begun[-1]] = f"it was not loaded within {patience:g} s"


async def _carefully(threads: AuthorThreads, name: str, start: Callable[[], None], patience: float) -> None:
    try:
        async with asyncio.timeout(patience):
            await threads.run(start)
    except TimeoutError as error:
        raise ConfigError(
            f"The REST extension {name} of {KEY} did not start within {patience:g} s", key=KEY
        ) from error
    except Exception as error:  # the top of author code
        if isinstance(error, ConfigError) and error.fields.get("key") == KEY:
            raise
        raise ConfigError(
            f"The REST extension {name} of {KEY} failed to start: {reason_of(error)}", key=KEY
        ) from error


async def _close(threads: AuthorThreads, name: str, extension: RestExtension) -> None:
    try:
        async with asyncio.timeout(CLOSE_TIMEOUT_SECONDS):
            await threads.run(extension.close)
    except Exception:  # the top of author code: the gateway ends all the same
        log.exception("the REST extension %s failed to close", name)
