"""The port of a log: keyed records, appended atomically, folded in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, TypeAlias, TypeVar

from copycat_connect.errors import CopycatError

E = TypeVar("E")


@dataclass(frozen=True, slots=True)
class Record:
    """One keyed fact; the newest of a key is the one that counts."""

    key: bytes
    value: bytes | None
    """None is a tombstone: it forgets the key."""
    timestamp_ms: int | None = field(default=None, compare=False)
    """When it was written or, where the writer says so, what it states began; milliseconds since the epoch.
    No part of the fact. None for one that is being written leaves it to the log, which may not keep any."""
    traceparent: str = field(default="", compare=False)
    """The span that led to the record, a header of it; no part of the fact. Empty where none is exported."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A position in a log: what every partition holds up to, exclusive."""

    next: Mapping[int, int]
    """Partition to next offset; a partition not named is at 0. Never changed after construction."""

    ZERO: ClassVar[Revision]
    """The position before the first record."""

    def covers(self, other: Revision) -> bool:
        """Whether all that is visible at `other` is visible here."""
        mine = self.next
        return all(mine.get(partition, 0) >= offset for partition, offset in other.next.items())

    def behind(self, other: Revision) -> Mapping[int, int]:
        """The partitions in which less is visible here than at `other`, each with its next offset here."""
        mine = self.next
        return {
            partition: mine.get(partition, 0)
            for partition, offset in sorted(other.next.items())
            if mine.get(partition, 0) < offset
        }

    def merge(self, other: Revision) -> Revision:
        """The earliest position that covers both."""
        merged = dict(self.next)
        for partition, offset in other.next.items():
            merged[partition] = max(merged.get(partition, 0), offset)
        return Revision(merged)


Revision.ZERO = Revision({})


@dataclass(frozen=True, slots=True)
class Entry:
    """A record with its place in the log."""

    partition: int
    offset: int
    record: Record


Fold: TypeAlias = Callable[[Sequence[Entry], Revision], None]
"""Takes the next entries, in log order within each partition, and the position after them. It never raises.
The entries are empty when only the position moved (Kafka's control records and compaction holes)."""


class Codec(Protocol[E]):
    """Turns events into records and back."""

    @property
    def forgets_unreadable(self) -> bool:
        """Whether a value that cannot be read forgets what was known under its key, as its tombstone would.

        Else its record changes nothing.
        """
        ...

    def encode(self, event: E) -> Record:
        """Return the record that states the event."""
        ...

    def decode(self, record: Record) -> E:
        """Return the event a record states: one that can be encoded again, and sent in messages.

        Raises:
            MalformedError: It states none; whatever the bytes are, nothing else is raised.
        """
        ...


class Log(Protocol):
    """One compacted topic, or something that behaves like it."""

    @property
    def name(self) -> str:
        """What it is called where it is kept: a topic, a file."""
        ...

    @property
    def leads(self) -> bool:
        """Whether this instance may append and has folded all that was written before it might."""
        ...

    @property
    def owns(self) -> bool:
        """Whether the log is this instance's to write, though its brokers may keep it from leading for now.

        False where another instance is known to lead, and as long as it is not known who does.
        """
        ...

    async def start(self, fold: Fold) -> None:
        """Open the log and fold it; return when everything that was in it has been folded.

        `fold` is called in the event loop, from the beginning of the log, then on for every new record.

        Raises:
            UnavailableError: The log cannot be reached.
            ConfigError: The log is not fit for its purpose.
        """
        ...

    async def lead(self, within: float) -> None:
        """Return once this instance leads.

        Raises:
            NotWriterError: Another instance is known to lead, or this one does not after so many seconds.
            UnavailableError: The log stopped.
        """
        ...

    async def append(self, records: Sequence[Record]) -> Revision:
        """Append all records or none; return the position at which they are visible.

        When an append fails, every later one that has not finished fails too, and `leads` is False until the
        log was claimed anew and folded to its end.

        Raises:
            NotWriterError: Nothing was appended.
            OutcomeUnknownError: The records may or may not be in the log.
        """
        ...

    async def end(self) -> Revision:
        """Return the position after the last record, those of open transactions included."""
        ...

    async def lost(self) -> CopycatError:
        """Return only when the records are gone, or others than were folded, with the reason for everybody.

        From then on the log refuses whatever needs it; what was folded can still be asked for.
        """
        ...

    async def crashed(self) -> BaseException:
        """Return only when the log can go on no more, with the reason. The process should then end."""
        ...

    async def stop(self) -> None:
        """Let go of the leadership and of all resources. Appends that wait fail."""
        ...
