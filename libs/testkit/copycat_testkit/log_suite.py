"""One behaviour suite for every log: in memory, in a file, on Kafka.

    class TestMemoryLog(LogSuite):
        @pytest.fixture
        def place(self) -> LogPlace: ...

What a log cannot do is named in `exempt`, with the reason beside it.
"""

# ruff: noqa: D102, the names of the suite's tests are sentences already
from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import ClassVar, Protocol

import pytest
from copycat_connect.errors import CopycatError, NotWriterError
from copycat_eventlog.log import Entry, Log, Record, Revision

WAIT_TIMEOUT_SECONDS = 60.0


class LogPlace(Protocol):
    """Where the logs of one test live: all on the same records."""

    def log(self) -> Log:
        """Make a log that was not started."""
        ...

    async def write(self, records: Sequence[Record]) -> None:
        """Append as another program would."""
        ...


class FoldingReader:
    """Folds a log into what tests ask about."""

    def __init__(self) -> None:
        """Nothing was read yet."""
        self.entries: list[Entry] = []
        self.revision = Revision.ZERO
        self._moved = asyncio.Event()

    def fold(self, entries: Sequence[Entry], reached: Revision) -> None:
        """Read what the log gives."""
        assert reached.covers(self.revision), "a log never goes back"
        for entry in entries:
            assert entry.offset >= self.revision.next.get(entry.partition, 0), "a log gives each entry once"
            assert entry.offset < reached.next[entry.partition], "a revision covers what it came with"
        self.entries += entries
        self.revision = reached
        self._moved.set()

    async def reached(self, revision: Revision) -> None:
        """Wait until everything before a revision was folded."""
        async with asyncio.timeout(WAIT_TIMEOUT_SECONDS):
            while not self.revision.covers(revision):
                self._moved.clear()
                await self._moved.wait()

    @property
    def records(self) -> list[Record]:
        """All records in the order they were folded."""
        return [entry.record for entry in self.entries]

    @property
    def facts(self) -> dict[bytes, bytes]:
        """The newest value of every key that has one."""
        newest = {record.key: record.value for record in self.records}
        return {key: value for key, value in newest.items() if value is not None}


@asynccontextmanager
async def running(log: Log) -> AsyncIterator[FoldingReader]:
    """Run a log until it is caught up, then stop it at the end."""
    reader = FoldingReader()
    async with asyncio.timeout(WAIT_TIMEOUT_SECONDS):
        await log.start(reader.fold)
    try:
        yield reader
    finally:
        async with asyncio.timeout(WAIT_TIMEOUT_SECONDS):
            await log.stop()


async def led(log: Log) -> None:
    """Wait until a log leads, over lost elections too."""
    async with asyncio.timeout(WAIT_TIMEOUT_SECONDS):
        while not log.leads:
            try:
                await log.lead(WAIT_TIMEOUT_SECONDS)
            except NotWriterError:
                await asyncio.sleep(0.02)


def records(keys: Iterable[str], value: str | None = "v") -> list[Record]:
    """Make one record a key."""
    return [Record(key.encode(), None if value is None else value.encode()) for key in keys]


class LogSuite:
    """What every log does. Subclasses give the fixture `place`."""

    exempt: ClassVar[frozenset[str]] = frozenset()
    """Names of what this kind of log cannot do: `history` `standby` `foreign writers`."""

    async def test_what_is_appended_is_folded_at_the_revision_returned(self, place: LogPlace) -> None:
        log = place.log()
        async with running(log) as reader:
            await led(log)
            revision = await log.append(records("ab"))
            await reader.reached(revision)
            assert reader.facts == {b"a": b"v", b"b": b"v"}

    async def test_the_end_covers_what_was_appended(self, place: LogPlace) -> None:
        log = place.log()
        async with running(log) as reader:
            await led(log)
            revision = await log.append(records("abc"))
            end = await log.end()
            assert end.covers(revision)
            await reader.reached(revision)
            assert end.covers(Revision({e.partition: e.offset + 1 for e in reader.entries}))

    async def test_a_restart_folds_every_fact(self, place: LogPlace) -> None:
        log = place.log()
        async with running(log) as before:
            await led(log)
            await log.append(records("abc", "1"))
            await log.append(records("b", "2"))
            await before.reached(await log.append(records("c", None)))
        async with running(place.log()) as after:
            assert after.facts == before.facts == {b"a": b"1", b"b": b"2"}
            if "history" not in self.exempt:
                assert after.revision.covers(before.revision)

    async def test_concurrent_appends_keep_the_order_of_their_calls(self, place: LogPlace) -> None:
        log = place.log()
        async with running(log) as reader:
            await led(log)
            calls = (log.append([Record(b"key", str(number).encode())]) for number in range(100))
            for revision in await asyncio.gather(*calls):
                await reader.reached(revision)
            assert [record.value for record in reader.records] == [b"%d" % n for n in range(100)]

    async def test_records_appended_together_stay_together(self, place: LogPlace) -> None:
        log = place.log()
        async with running(log) as reader:
            await led(log)
            groups = [records("abcdefgh", str(number)) for number in range(30)]
            for revision in await asyncio.gather(*map(log.append, groups)):
                await reader.reached(revision)
            by_partition = defaultdict(list)
            for entry in reader.entries:
                by_partition[entry.partition].append(entry.record)
            for partition in by_partition.values():
                values = [record.value for record in partition]
                assert values == sorted(values, key=lambda value: int(value or b"0"))

    async def test_a_key_stays_in_its_partition(self, place: LogPlace) -> None:
        log = place.log()
        async with running(log) as reader:
            await led(log)
            for value in ("1", "2"):
                await reader.reached(await log.append(records("abcdefgh", value)))
            places = {(entry.record.key, entry.partition) for entry in reader.entries}
            assert len(places) == 8

    async def test_a_stopped_log_appends_nothing(self, place: LogPlace) -> None:
        log = place.log()
        async with running(log):
            await led(log)
        assert not log.leads
        with pytest.raises(CopycatError):
            await log.append(records("late"))
        async with running(place.log()) as reader:
            assert reader.facts == {}

    async def test_the_records_of_other_writers_are_folded(self, place: LogPlace) -> None:
        if "foreign writers" in self.exempt:
            return
        async with running(place.log()):
            await place.write(records("a", "1"))
        log = place.log()
        async with running(log) as reader:
            assert reader.facts == {b"a": b"1"}
            await place.write(records("b", "2"))
            await led(log)
            await reader.reached(await log.end())
            assert reader.facts == {b"a": b"1", b"b": b"2"}

    async def test_a_standby_folds_and_appends_nothing(self, place: LogPlace) -> None:
        if "standby" in self.exempt:
            return
        leader, standby = place.log(), place.log()
        async with running(leader), running(standby) as reader:
            await led(leader)
            await reader.reached(await leader.append(records("a")))
            assert not standby.leads
            with pytest.raises(NotWriterError):
                await standby.append(records("b"))

    async def test_a_standby_takes_over_from_a_leader_that_stops(self, place: LogPlace) -> None:
        if "standby" in self.exempt:
            return
        leader, standby = place.log(), place.log()
        async with AsyncExitStack() as stack:
            async with running(leader):
                await led(leader)
                reader = await stack.enter_async_context(running(standby))
                await leader.append(records("a", "1"))
            await led(standby)
            assert reader.facts == {b"a": b"1"}, "who leads has folded what the former leader wrote"
            await reader.reached(await standby.append(records("b", "2")))
            assert reader.facts == {b"a": b"1", b"b": b"2"}
