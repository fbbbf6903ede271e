"""The port through which a task speaks to whoever runs it, and asks other services until they answer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Final, Protocol, TypeVar

from copycat_connect.cluster import TopicPartition
from copycat_connect.errors import RetriableError

from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.measures import Measure
from copycat_executor.pipeline.task.stages import DrainedError

_log = logging.getLogger(__name__)

T = TypeVar("T")
#: Between two questions, while a service is away.
_RETRY_SECONDS: Final = 1.0


class ReportedState(Enum):
    """What a task reports about itself."""

    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    FAILED = "FAILED"
    UNASSIGNED = "UNASSIGNED"


class TaskLink(Protocol):
    """Reports of one task.

    No call blocks but `source_offsets`; after the host gave the task up they do nothing.
    """

    def state(self, state: ReportedState) -> None:
        """Report the state the task is in from now on."""

    def acknowledge_source(
        self,
        sequence: int,
        offsets: Mapping[bytes, bytes | None],
        expected: Mapping[bytes, bytes | None] | None = None,
    ) -> None:
        """Report source offsets whose records are durable (I1); answered by a settlement.

        They are committed only if those `expected` are the committed ones until now.
        """

    def acknowledge_sink(self, sequence: int, offsets: Mapping[TopicPartition, int]) -> None:
        """Report sink positions to commit (I1); answered by a settlement.

        None at all ask only whether this generation is the newest (I2).
        """

    def topics_seen(self, topics: Sequence[str]) -> None:
        """Report topics met for the first time (KIP-558)."""

    def source_offsets(self, partitions: Sequence[bytes]) -> list[bytes | None]:
        """Ask for committed source offsets, in the order of the partitions; blocks.

        Raises:
            RetriableError: There is no answer now.
            ConnectError: There will be none; the text says why.
        """

    def await_fence(self) -> None:
        """Ask that all earlier tasks of the connector are fenced; blocks. Only exactly-once tasks do.

        Raises:
            StaleTaskError: A newer generation of this task exists.
            RetriableError: There is no answer now.
            ConnectError: They cannot be fenced; the text says why and what to do.
        """

    def measured(self, measures: Mapping[str, Measure]) -> None:
        """Report what was measured since the last such report; nothing is no report."""


def until_answered(
    ask: Callable[[], T], calls: CallLog, wait: Callable[[float], bool], *, what: str, complaint: str
) -> T:
    """Ask other services, by a call of the link, until there is an answer.

    Args:
        ask: The question; a RetriableError says that there is no answer now.
        calls: Those of the task, for its status.
        wait: Waits for some seconds; True when the task must end.
        what: Names the question in the status.
        complaint: Begins the log line while there is no answer.

    Raises:
        DrainedError: The task must end.
    """
    while True:
        try:
            answer = ask()
        except RetriableError as error:
            calls.failed(what, error)
            _log.warning("%s, asking again: %s", complaint, error)
        else:
            calls.worked(what)
            return answer
        if wait(_RETRY_SECONDS):
            raise DrainedError
