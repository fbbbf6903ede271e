"""The topics a task met: created before the first record, reported with every commit (KIP-158, KIP-558)."""

from __future__ import annotations

from typing import Protocol

from copycat_executor.pipeline.task.task_link import TaskLink


class TopicCreator(Protocol):
    """Makes sure that a topic is there before its first record."""

    def ensure(self, topic: str) -> None:
        """Create the topic when it is missing; blocks. Called once per topic.

        Raises:
            ConnectError: It is missing and cannot be created.
        """


class TopicLedger:
    """Remembers topics for the life of a task."""

    def __init__(self, creator: TopicCreator | None = None, *, tracked: bool = True) -> None:
        """`tracked` topics are reported (`topic.tracking.enable`)."""
        self._creator = creator
        self._tracked = tracked
        self._known: set[str] = set()
        self._unreported: dict[str, None] = {}

    def meet(self, topic: str) -> None:
        """Note a topic that a record goes to or comes from; the first time it may be created.

        Raises:
            ConnectError: It is missing and cannot be created.
        """
        if topic not in self._known:
            if self._creator is not None:
                self._creator.ensure(topic)
            self._known.add(topic)
        if self._tracked:
            self._unreported[topic] = None

    def report(self, link: TaskLink) -> None:
        """Report what was met since the last report, if anything was."""
        topics = self.take_unreported()
        if topics:
            link.topics_seen(topics)

    def take_unreported(self) -> list[str]:
        """Return what was met since the last call, known topics too: a user may have reset what is active."""
        taken, self._unreported = list(self._unreported), {}
        return taken
