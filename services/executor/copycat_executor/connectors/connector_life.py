"""Lives of connectors on this worker: the objects in the process of the connectors."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from copycat.status.v1 import status_service_pb2 as pb
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
    reconfigure: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once it asks for new task configurations while it is being asked for some."""
    undivided: pb.Trouble | None = None
    """Why its work is not divided into tasks, or what came of that not published."""
    waits: pb.Trouble | None = None
    """What it says it waits for."""
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
