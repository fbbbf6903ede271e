"""`/workers`: the live workers; Copycat's addition to Kafka Connect's resources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copycat_rest.answers import WorkerInfo

if TYPE_CHECKING:
    from copycat_cli.rest import Rest


def list_workers(rest: Rest) -> list[WorkerInfo]:
    """Return the live workers."""
    return rest.get(list[WorkerInfo], "workers")
