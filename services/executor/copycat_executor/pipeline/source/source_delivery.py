"""The port of a guarantee of delivery: when records are handed over and when offsets are committed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from copycat_connect.plugin.contexts import TransactionContext

from copycat_executor.pipeline.source.path import Batch
from copycat_executor.pipeline.task.control import Settlement


class SourceDelivery(Protocol):
    """All that a guarantee of delivery consists of; used by the thread of one source task."""

    @property
    def transaction(self) -> TransactionContext | None:
        """What the task places its transaction boundaries with; None where it does not."""

    @property
    def behind(self) -> bool:
        """True while nothing is to be polled, since Kafka lags behind."""

    @property
    def unsettled(self) -> bool:
        """True while the fate of an acknowledgement is open."""

    def prepare(self) -> None:
        """Get ready, before the task itself starts; blocks.

        Raises:
            ConnectError: It cannot be had; the text says why and what to do.
            StaleTaskError: A newer generation of the task exists.
            DrainedError: The task must end.
        """

    def deliver(self, batch: Batch) -> None:
        """Take a batch that is not empty to Kafka, or on its way there.

        Raises:
            ToleranceExceededError: A record failed.
            ConnectError: A record cannot be written.
            DrainedError: The task must end.
        """

    def commit_if_due(self) -> None:
        """Commit offsets, when it is time for that; called after every poll and every rest."""

    def pause(self) -> None:
        """Take note that no batch comes for a while."""

    def wait(self, seconds: float) -> bool:
        """Sleep until the time is over or the task must end; commits that fall due meanwhile are made."""

    def commit_last(self, *, failed: bool) -> None:
        """Commit what can still be, at the end of a run; `failed` when the task did not end by itself."""

    def settle(self, settlements: Sequence[Settlement]) -> None:
        """Take note of the fate of acknowledgements, none of which is stale."""
