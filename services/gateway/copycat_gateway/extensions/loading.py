"""REST extensions: found by `rest.extension.classes`, asked for filters and resources before any request."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final
from urllib.parse import quote, unquote

from copycat_connect.errors import ConfigError
from copycat_connect.plugin import PluginKind, Plugins, RestExtension, load_plugins
from copycat_connect.plugin.loading import reason_of
from copycat_connect.plugin.rest_extensions import Authenticator, ClusterState, RequestFilter, Resource

from copycat_gateway.access.authentication import AuthorThreads

KEY: Final = "rest.extension.classes"
KINDS: Final = (PluginKind.REST_EXTENSION,)


@dataclass(frozen=True, slots=True)
class Installed:
    """The installed plugins, of which extensions are made by name."""

    plugins: Plugins
    """The plugins that load here; those of connectors may need what a gateway has not."""

    def made(self, name: str) -> RestExtension:
        """Make the extension of a class name or alias.

        Raises:
            ConfigError: It does not exist, or cannot be loaded.
        """
        spec = self.plugins.get(name, KINDS)
        if spec is None:
            raise ConfigError(
                f"{KEY} names {name}, which is not an installed REST extension. Known: {self._known()}."
                f" Correct the name, or install the package that has it.{self.plugins.unloadable_hint()}",
                key=KEY,
            )
        made = spec.make()
        if not isinstance(made, RestExtension):
            raise ConfigError(f"its factory makes a {type(made).__name__}, which is no RestExtension")
        return made

    def _known(self) -> str:
        return ", ".join(each.class_name for each in self.plugins.all() if each.kind in KINDS) or "none"


METHOD: Final = re.compile(r"[A-Z]+")
PARAMETER: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)(?::str)?\}")
Pattern = Sequence[str]


@dataclass(frozen=True, slots=True)
class FoundResource:
    """The resource that answers a request, with what its path says."""

    answer: Resource
    """The extension's resource."""
    parameters: Mapping[str, str]
    """What stands in the places of its path."""


class Resources:
    """The resources of all extensions; none takes a path from the interface itself."""

    def __init__(self, taken: Iterable[tuple[str, str]] = ()) -> None:
        """`taken`: method and path of what answers already."""
        self._taken = [(method, _pattern(path)) for method, path in taken]
        self._added: list[tuple[str, Pattern, Resource]] = []

    def add(self, method: str, path: str, answer: Resource) -> None:
        """Add one.

        Raises:
            ConfigError: The method or the path is malformed, or it is taken.
        """
        if METHOD.fullmatch(method) is None:
            raise ConfigError(f"'{method}' is no HTTP method: write GET, PUT, POST, PATCH or DELETE")
        if not path.startswith("/") or "//" in path or path == "/":
            raise ConfigError(
                f"The path '{path}' of a resource is malformed: write /guests or /guests/{{name}}"
            )
        pattern = _pattern(path)
        for known, other in (*self._taken, *((each, its) for each, its, _ in self._added)):
            if known == method and _meet(pattern, other):
                raise ConfigError(f"{method} {path} is answered already, by /{'/'.join(other)}")
        self._added.append((method, pattern, answer))

    def find(self, method: str, path: str) -> FoundResource | None:
        """Return what answers a normalised path; HEAD is answered as GET."""
        wanted = "GET" if method == "HEAD" else method
        segments = path.strip("/").split("/")
        for known, pattern, answer in self._added:
            if known == wanted and _meet(pattern, segments):
                return FoundResource(answer, dict(_filled(pattern, segments)))
        return None

    @property
    def are_none(self) -> bool:
        """True where no extension has added one."""
        return not self._added


def _pattern(path: str) -> Pattern:
    parts: Collection[str] = path.strip("/").split("/")
    return [part if PARAMETER.fullmatch(part) else quote(unquote(part), safe="") for part in parts]


def _meet(one: Pattern, other: Pattern) -> bool:
    """Tell whether a path exists that both are for."""
    return len(one) == len(other) and all(
        mine == its or PARAMETER.fullmatch(mine) or PARAMETER.fullmatch(its)
        for mine, its in zip(one, other, strict=True)
    )


def _filled(pattern: Pattern, segments: Sequence[str]) -> Iterable[tuple[str, str]]:
    for part, segment in zip(pattern, segments, strict=True):
        if match := PARAMETER.fullmatch(part):
            yield match[1], unquote(segment)


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
