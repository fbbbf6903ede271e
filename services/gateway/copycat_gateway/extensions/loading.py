"""From `rest.extension.classes` to filters and resources, before the first request is answered."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from copycat_connect.errors import ConfigError, CopycatError
from copycat_connect.plugin import PluginKind, Plugins, RestExtension, load_plugins
from copycat_connect.plugin.rest_extensions import ClusterState, RequestFilter, Resource

from copycat_gateway.extensions.resources import Resources
from copycat_gateway.extensions.threads import AuthorThreads

log = logging.getLogger(__name__)

KEY: Final = "rest.extension.classes"
KINDS: Final = (PluginKind.REST_EXTENSION,)
CLOSING: Final = 10.0
"""Seconds an extension may take to close."""


@dataclass(slots=True)
class Context:
    """What extensions register with; all of them share one."""

    cluster_state: ClusterState
    """The cluster."""
    resources: Resources
    """What they answer."""
    filters: list[RequestFilter] = field(default_factory=list)
    """What sees every request, in its order."""

    def add_filter(self, decide: RequestFilter) -> None:
        """Let a function see every request."""
        self.filters.append(decide)

    def add_resource(self, method: str, path: str, answer: Resource) -> None:
        """Answer a method and path."""
        self.resources.add(method, path, answer)


@dataclass(frozen=True, slots=True)
class Extensions:
    """What the extensions have registered, and where their code runs."""

    filters: Sequence[RequestFilter]
    """What sees every request, in its order."""
    resources: Resources
    """What they answer."""
    threads: AuthorThreads
    """Where all of it runs."""
    patience: float
    """Seconds a call may take."""


@asynccontextmanager
async def open_extensions(
    names: Sequence[str],
    properties: Mapping[str, str],
    cluster_state: ClusterState,
    *,
    taken: Iterable[tuple[str, str]],
    patience: float,
) -> AsyncIterator[Extensions | None]:
    """Start the extensions in their order and close them at the end; nothing where none is named.

    Args:
        names: Class names or aliases.
        properties: The worker's.
        cluster_state: What they may ask.
        taken: Method and path of what the interface itself answers.
        patience: Seconds any call of theirs may take.

    Raises:
        ConfigError: One is unknown, or failed to configure or to register.
    """
    if not names:
        yield None
        return
    threads, context = AuthorThreads(), Context(cluster_state, Resources(taken))
    plugins = await _installed(threads, patience)
    started: list[tuple[str, RestExtension]] = []

    def start(name: str) -> None:
        extension = _made(plugins, name)
        started.append((name, extension))
        extension.configure(dict(properties))
        extension.register(context)

    try:
        for name in names:
            await _carefully(threads, name, partial(start, name), patience)
        yield Extensions(tuple(context.filters), context.resources, threads, patience)
    finally:
        for name, extension in started:
            await _close(threads, name, extension)


async def _installed(threads: AuthorThreads, patience: float) -> Plugins:
    try:
        async with asyncio.timeout(patience):
            return await threads.run(load_plugins)
    except Exception as error:  # the top of author code: a module may fail in any way when it is loaded
        raise ConfigError(
            f"{KEY} is set, but an installed plugin cannot be loaded: {_reason(error)}. Repair or remove it",
            key=KEY,
        ) from error


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
            f"The REST extension {name} of {KEY} failed to start: {_reason(error)}", key=KEY
        ) from error


def _made(plugins: Plugins, name: str) -> RestExtension:
    spec = plugins.get(name, KINDS)
    if spec is None:
        known = ", ".join(each.class_name for each in plugins.all() if each.kind in KINDS) or "none"
        raise ConfigError(
            f"{KEY} names {name}, which is no installed REST extension. Known: {known}. Correct the name, or"
            " install the package that has it",
            key=KEY,
        )
    made = spec.factory()
    if not isinstance(made, RestExtension):
        raise ConfigError(f"its factory makes a {type(made).__name__}, which is no RestExtension")
    return made


async def _close(threads: AuthorThreads, name: str, extension: RestExtension) -> None:
    try:
        async with asyncio.timeout(CLOSING):
            await threads.run(extension.close)
    except Exception:  # the top of author code: the gateway ends all the same
        log.exception("the REST extension %s failed to close", name)


def _reason(error: Exception) -> str:
    return error.message if isinstance(error, CopycatError) else f"{type(error).__name__}: {error}"
