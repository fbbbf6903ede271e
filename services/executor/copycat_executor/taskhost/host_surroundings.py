"""What all tasks of a host share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from copycat_connect.plugin import Plugins

from copycat_executor.taskhost.garbage import Garbage
from copycat_executor.taskhost.host_queries import HostQueries


@dataclass(frozen=True, slots=True)
class HostSurroundings:
    """The host's clock, luck, plugins and garbage collection."""

    plugins: Plugins
    """The installed plugins."""
    environment: Mapping[str, str]
    """The environment variables, for placeholders."""
    clock: Callable[[], float]
    """Seconds that never run backwards."""
    random: Callable[[], float]
    """Numbers from 0 to 1."""
    queries: HostQueries
    """Has queries run by Spark; makes this what transformations are initialized with."""
    garbage: Garbage
    """Collects for all tasks."""
    run_connectors: Callable[[Iterable[str]], None] = lambda _: None
    """Hears of which connectors there are tasks, for output of which only the process is known."""
