"""The topics a task met: created before the first record, reported once (KIP-158, KIP-558)."""

from __future__ import annotations

from copycat_executor.pipeline.creation import TopicCreator


class TopicLedger:
    """Remembers topics for the life of a task."""

    def __init__(self, creator: TopicCreator | None = None, *, tracked: bool = True) -> None:
        """`tracked` topics are reported (`topic.tracking.enable`)."""
        self._creator = creator
        self._tracked = tracked
        self._known: set[str] = set()
        self._unreported: list[str] = []

    def meet(self, topic: str) -> None:
        """Note a topic; the first time it may be created.

        Raises:
            ConnectError: It is missing and cannot be created.
        """
        if topic in self._known:
            return
        if self._creator is not None:
            self._creator.ensure(topic)
        self._known.add(topic)
        if self._tracked:
            self._unreported.append(topic)

    def take_unreported(self) -> list[str]:
        """Return what was met since the last call."""
        taken, self._unreported = self._unreported, []
        return taken
