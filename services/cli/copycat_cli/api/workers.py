"""`/workers`: the live workers; Copycat's addition to Kafka Connect's resources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from copycat_cli.rest import Rest


class Held(Struct, frozen=True, omit_defaults=True):
    """A connector, or one of its tasks, that a worker holds."""

    connector: str
    task: int | None = None


class Worker(Struct, frozen=True):
    """A live worker and all it holds."""

    worker_id: str
    leaving: bool = False
    held: tuple[Held, ...] = ()


def list_workers(rest: Rest) -> list[Worker]:
    """Return the live workers."""
    return rest.get(list[Worker], "workers")
