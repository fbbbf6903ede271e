"""Source offsets on their way to the offset service: taken when durable, kept until they are settled."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from copycat_executor.pipeline.source.expected_offsets import ExpectedOffsets
from copycat_executor.pipeline.source.progress import SourceProgress
from copycat_executor.pipeline.task.control import Settlement
from copycat_executor.pipeline.task.task_link import TaskLink

_log = logging.getLogger(__name__)


class SourceCommits:
    """Acknowledges progress and remembers what was not settled yet."""

    def __init__(
        self, progress: SourceProgress, link: TaskLink, expected: ExpectedOffsets | None = None
    ) -> None:
        """With `expected` a commit is refused when another task has committed since."""
        self._progress = progress
        self._expected = expected
        self._link = link
        self._sequence = 0
        self._unsettled: dict[int, dict[bytes, bytes | None]] = {}

    @property
    def pending(self) -> bool:
        """True when there is something to acknowledge."""
        return bool(self._progress)

    @property
    def unsettled(self) -> bool:
        """True while the fate of an acknowledgement is open."""
        return bool(self._unsettled)

    def take(self) -> dict[bytes, bytes | None]:
        """Return what is new, to be committed in another way than by an acknowledgement."""
        return self._progress.take()

    def told(self, offsets: Mapping[bytes, bytes | None]) -> None:
        """Take note of committed offsets that the task has asked for."""
        if self._expected is not None:
            self._expected.told(offsets)

    def acknowledge(self) -> int:
        """Report what is new; the caller made sure that it is durable (I1). Returns the report's number."""
        offsets = self._progress.take()
        self._sequence += 1
        self._unsettled[self._sequence] = offsets
        expected = None if self._expected is None else self._expected.of(offsets)
        self._link.acknowledge_source(self._sequence, offsets, expected)
        return self._sequence

    def settle(self, settlement: Settlement) -> bool:
        """Take note of a fate; True when the offsets are committed. Refused ones are acknowledged again."""
        offsets = self._unsettled.pop(settlement.sequence, None)
        if offsets is None:
            return False
        if not settlement.error:
            if self._expected is not None:
                self._expected.committed(offsets)
            return True
        _log.warning("Offsets were not committed and are tried again: %s", settlement.error)
        newer = [later for sequence, later in self._unsettled.items() if sequence > settlement.sequence]
        superseded = {partition for later in newer for partition in later}
        self._progress.restore({key: offset for key, offset in offsets.items() if key not in superseded})
        return False
