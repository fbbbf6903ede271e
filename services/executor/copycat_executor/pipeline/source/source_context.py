"""What a source task may ask of the engine."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from copycat_connect.errors import DataError, RetriableError
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition, TransactionContext

from copycat_executor.pipeline.source.progress import from_json, to_json
from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.stages import DrainedError
from copycat_executor.pipeline.task.task_link import TaskLink

_log = logging.getLogger(__name__)
_OFFSETS_RETRY_DELAY_SECONDS: Final = 1.0


class RunningSourceContext:
    """The context of a running source task (`SourceTaskContext`)."""

    def __init__(
        self,
        configs: Callable[[], Mapping[str, str]],
        link: TaskLink,
        wait: Callable[[float], bool],
        transaction: TransactionContext | None,
        told: Callable[[Mapping[bytes, bytes | None]], None],
        *,
        calls: CallLog,
    ) -> None:
        """`told` hears the committed offsets that the task was given."""
        self._configs = configs
        self._link = link
        self._wait = wait
        self._transaction = transaction
        self._told = told
        self._calls = calls
        self.waited = False

    @property
    def transaction(self) -> TransactionContext | None:
        """Transaction boundaries; None unless the connector defines them itself."""
        return self._transaction

    def configs(self) -> Mapping[str, str]:
        """Return the task's configuration, placeholders resolved."""
        return self._configs()

    def offset(self, partition: SourcePartition) -> SourceOffset | None:
        """Ask the offset service for one offset; blocks."""
        return self.offsets([partition])[0]

    def offsets(self, partitions: Sequence[SourcePartition]) -> list[SourceOffset | None]:
        """Ask the offset service for several offsets; blocks until it answers.

        Raises:
            DrainedError: The task must end.
        """
        keys = [to_json(partition) for partition in partitions]
        if None in keys:
            raise DataError("A source partition must not be null")
        known = [key for key in keys if key is not None]
        while True:
            try:
                found = self._link.source_offsets(known)
            except RetriableError as error:
                self._calls.failed("offsets", error)
                _log.warning("Offsets cannot be read now, asking again: %s", error)
            else:
                self._calls.worked("offsets")
                self._told(dict(zip(known, found, strict=True)))
                return [from_json(text) for text in found]
            if self._wait(_OFFSETS_RETRY_DELAY_SECONDS):
                raise DrainedError

    def waiting(self, reason: str | None) -> None:
        """Note what the task waits for, or that it waits no longer."""
        self._calls.wait_for(reason)

    def wait(self, seconds: float) -> bool:
        """Wait; the engine commits offsets meanwhile."""
        self.waited = True
        return self._calls.rest(self._wait, seconds)
