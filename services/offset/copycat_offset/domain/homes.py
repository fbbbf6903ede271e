"""The ports to the topics in which a connector's own clients keep its offsets."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from copycat_connect.cluster import Config

from copycat_offset.domain.events import OffsetEvent
from copycat_offset.domain.state import OffsetState


class OwnTopic(Protocol):
    """An offsets topic other than the worker's; raises UnavailableError, OffsetsTopicError or ConfigError."""

    def turn(self) -> AbstractAsyncContextManager[object]:
        """Keep others out from the check of a commit to its end, so that no older one comes after a newer."""
        ...

    async def read(self) -> OffsetState:
        """Return what is in it up to the end it has now; waits for transactions that are open."""
        ...

    async def write(self, events: Sequence[OffsetEvent]) -> None:
        """Append; returns when it is durable."""
        ...


class OffsetsHome(Protocol):
    """Where one connector keeps its offsets."""

    @property
    def own(self) -> OwnTopic | None:
        """Its topic besides the worker's; None where it has none."""
        ...

    async def write_at_once(self, connector: str, events: Sequence[OffsetEvent]) -> None:
        """Append to its own topic, or to the worker's where it has none, in one transaction.

        It is a transaction of the connector's first task: a producer of it that still lives is fenced.

        Raises:
            TransactionRefusedError: The connector's producer may not use the transactional id.
            UnavailableError: The brokers did not do it.
        """
        ...


class OffsetsHomes(Protocol):
    """Finds where a connector keeps its offsets."""

    async def of(self, keys: Config, *, exactly_once: bool) -> OffsetsHome:
        """Return the home that a connector's keys name.

        Raises:
            ConfigError: They cannot be followed.
        """
        ...
