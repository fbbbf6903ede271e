"""Lives of connectors on this worker: the objects in the process of the connectors."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from copycat_connect.cluster import Config, Instance

from copycat_executor.domain.plugin import Plugin


@dataclass(slots=True, eq=False)
class ConnectorLife:
    """A connector from its start to its stop on this worker."""

    name: str
    config: Config
    generation: int
    incarnation: int = 0
    """Names its object in the process; 0 while it has none."""
    plugin: Plugin | None = None
    """Once known."""
    reconfigure: bool = False
    """It asked for new task configurations while it was being asked for some."""
    jobs: set[asyncio.Task[Any]] = field(default_factory=set)
    """What is being done about it."""

    @property
    def instance(self) -> Instance:
        """The connector, as an instance."""
        return Instance(self.name)

    @property
    def version(self) -> str | None:
        """Of its plugin, where that is known and has one."""
        return None if self.plugin is None else self.plugin.version

    def cancel_jobs(self) -> None:
        """Stop what is being done about it, except by the caller."""
        for job in self.jobs:
            if job is not asyncio.current_task():
                job.cancel()
