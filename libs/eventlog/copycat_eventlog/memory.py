"""A log in memory: for standalone workers and for tests."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from zlib import crc32

from copycat_connect.errors import CopycatError, NotWriterError, UnavailableError

from copycat_eventlog.log import Entry, Fold, Record, Revision


class MemoryTopic:
    """The records behind memory logs. It outlives them, and several may be attached to it."""

    def __init__(self, partitions: int = 1, compact_every: int = 100_000) -> None:
        """Create an empty topic that compacts itself after so many records."""
        self._compact_every = compact_every
        self._written = 0
        self._partitions: list[list[Entry]] = [[] for _ in range(partitions)]
        self._next = [0] * partitions
        self._logs: list[MemoryLog] = []

    @property
    def end(self) -> Revision:
        """The position after the last record."""
        return Revision(dict(enumerate(self._next)))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All records, partition by partition."""
        return tuple(entry for partition in self._partitions for entry in partition)

    @property
    def leader(self) -> MemoryLog | None:
        """The log that may append: the one attached longest."""
        return self._logs[0] if self._logs else None

    def write(self, records: Sequence[Record]) -> Revision:
        """Append as any writer would, and let every attached log fold it."""
        entries, reached = [], {}
        for record in records:
            partition = crc32(record.key) % len(self._partitions)
            entry = Entry(partition, self._next[partition], record)
            self._partitions[partition].append(entry)
            self._next[partition] += 1
            reached[partition] = self._next[partition]
            entries.append(entry)
        for log in tuple(self._logs):
            log.feed(entries, self.end)
        self._written += len(entries)
        if self._written > self._compact_every:
            self.compact()
        return Revision(reached)

    def compact(self) -> None:
        """Drop every record that a newer one of its key supersedes."""
        self._written = 0
        for index, partition in enumerate(self._partitions):
            newest = {entry.record.key: entry.offset for entry in partition}
            self._partitions[index] = [e for e in partition if newest[e.record.key] == e.offset]

    def attach(self, log: MemoryLog) -> None:
        """Let a log take part."""
        self._logs.append(log)

    def detach(self, log: MemoryLog) -> None:
        """Let a log go; the next one leads."""
        if log in self._logs:
            self._logs.remove(log)


class MemoryLog:
    """A log on a memory topic."""

    def __init__(self, topic: MemoryTopic | None = None) -> None:
        """Use the given topic, or a new one of one partition."""
        self.topic = topic or MemoryTopic()
        self._fold: Fold | None = None

    @property
    def name(self) -> str:
        """It has none."""
        return "in memory"

    @property
    def leads(self) -> bool:
        """Whether this log was attached first."""
        return self.topic.leader is self

    @property
    def owns(self) -> bool:
        """The same as `leads`: there are no brokers that could be away."""
        return self.leads

    async def start(self, fold: Fold) -> None:
        """Fold all records of the topic at once, and later ones as they are written."""
        self._fold = fold
        self.topic.attach(self)
        fold(self.topic.entries, self.topic.end)

    async def lead(self, within: float = 0.0) -> None:
        """Return at once, or refuse at once: nothing changes by waiting."""
        if self._fold is None:
            raise UnavailableError("The log is not running")
        if not self.leads:
            raise NotWriterError("Another instance owns the log")

    async def append(self, records: Sequence[Record]) -> Revision:
        """Append and fold at once."""
        await self.lead()
        return self.topic.write(records)

    async def end(self) -> Revision:
        """Return the position after the last record of the topic."""
        return self.topic.end

    async def lost(self) -> CopycatError:
        """Never return: nobody else can reach it."""
        never: asyncio.Future[CopycatError] = asyncio.get_running_loop().create_future()
        return await never

    async def crashed(self) -> BaseException:
        """Never return: nothing can break."""
        never: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()
        return await never

    async def stop(self) -> None:
        """Fold nothing more; the topic keeps its records."""
        self.topic.detach(self)
        self._fold = None

    def feed(self, entries: Sequence[Entry], end: Revision) -> None:
        """Read what was written; called by the topic."""
        if self._fold is not None:
            self._fold(entries, end)
