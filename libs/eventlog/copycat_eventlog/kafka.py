"""A log on a compacted Kafka topic."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any, Generic, TypeVar

from copycat_connect.errors import CopycatError, LogLostError, NotWriterError, UnavailableError
from copycat_telemetry.changes import log_change

from copycat_eventlog.any_headers import read_any_headers
from copycat_eventlog.append import TransactionalProducer
from copycat_eventlog.brokers import Brokers
from copycat_eventlog.clients import aiokafka_config, librdkafka_config, read_security, silence_clients
from copycat_eventlog.electorate import Electorate, make_topic, read_electorate, wake_coordinators
from copycat_eventlog.forgotten_transactions import end_forgotten
from copycat_eventlog.group_commit import Batch, GroupCommit
from copycat_eventlog.identity import instance_name
from copycat_eventlog.leadership import Leadership
from copycat_eventlog.log import Entry, Fold, Record, Revision
from copycat_eventlog.materialise import Materialiser
from copycat_eventlog.open_transactions import warning_of_open_transactions
from copycat_eventlog.outcome import CommitOutcomes
from copycat_eventlog.overdue import Overdue
from copycat_eventlog.owner import (
    LEAVE_TIMEOUT_SECONDS,
    Election,
    ended_within,
    owner_group,
    owner_topic,
)
from copycat_eventlog.settings import LogSettings
from copycat_eventlog.topic_watch import KafkaSight, TopicWatch
from copycat_eventlog.topics import ensure_log_topic, ensure_owner_topic, lost_while_running

log = logging.getLogger(__name__)
R = TypeVar("R", bound=BaseException)

#: For folding what was written before a claim.
FOLD_TIMEOUT_SECONDS = 30.0
#: Between two looks whether the topic of the election is there: without it nobody is elected.
OWNER_TOPIC_LOOK_SECONDS = 10.0
#: After which an answer of the brokers is late; they take milliseconds.
SLOW_ANSWER_SECONDS = 0.25
#: Before stopping, for showing what was committed last.
LAST_BATCH_TIMEOUT_SECONDS = 2.0


class KafkaLog:
    """Folds in every instance, appends in the one that leads."""

    def __init__(self, settings: LogSettings) -> None:
        """Build it; nothing is connected before `start`."""
        self._settings = settings
        security = read_security(settings.client_config)
        self._connection = librdkafka_config(settings.bootstrap_servers, security)
        self._reading = aiokafka_config(settings.bootstrap_servers, security)
        client_id = instance_name(settings.owner_id)
        self._leadership = Leadership(self, client_id, settings.topic)
        self._election = Election(settings, client_id, self._leadership.elect)
        self._group = GroupCommit(self._connect, self._on_commit, self._on_loss)
        self._outcomes = CommitOutcomes(self._reached)
        self._overdue = Overdue(lambda: self._reader.position, self._readable_end, self._on_overdue)
        self._materialiser: Materialiser | None = None
        self._fold: Fold | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._questions: set[asyncio.Task[None]] = set()  # those that end by themselves
        self._crash = _Once[BaseException]()
        self._loss = _Once[LogLostError]()
        self._sight = KafkaSight(self._reading)
        self._topic_watch = TopicWatch(
            self._sight, settings.topic, on_gone=self._on_gone, on_partitions=self._on_partitions
        )
        self._cancelled = threading.Event()

    @property
    def name(self) -> str:
        """The topic."""
        return self._settings.topic

    @property
    def leads(self) -> bool:
        """Whether this instance may append."""
        return self._leadership.leads

    @property
    def owns(self) -> bool:
        """Whether nobody else is known to be the writer, and this instance was or is to be."""
        return self._leadership.owns

    async def start(self, fold: Fold) -> None:
        """Make or check the topic, fold it, and take part in the election."""
        silence_clients()
        read_any_headers()
        self._fold = fold
        self._questions.add(self._spawn(self._wake_coordinators()))
        partitions = await self._prepared()
        await self._topic_watch.begin()
        self._materialiser = Materialiser(
            self._reading, self._settings.topic, partitions, self._folded, of=self._election
        )
        self._spawn(self._election.start())
        await self._materialiser.start()
        self._spawn(self._watch())
        self._spawn(self._group.run())
        self._spawn(self._overdue.run())
        self._spawn(self._topic_watch.run())
        self._spawn(self._keep_owner_topic())
        self._questions.add(self._spawn(self._leadership.run()))
        await self._fold_to_end()
        self._materialiser.caught_up()

    async def lead(self, within: float) -> None:
        """Return once this instance leads."""
        self._check()
        try:
            await self._leadership.lead(within)
        except CopycatError:
            self._check()
            raise

    async def append(self, records: Sequence[Record]) -> Revision:
        """Append in a transaction, shared with others that wait."""
        self._check()
        if not self.leads:
            raise NotWriterError("Nothing was appended: this instance does not own the log")
        try:
            revision = await self._group.append(records)
        except CopycatError:
            self._check()
            raise
        self._overdue.committed(revision)
        return revision

    async def end(self) -> Revision:
        """Ask the brokers for the end of every partition.

        For a topic that is gone the reader's client waits as long as for brokers that are away, so an answer
        that takes long is a reason to look whether the topic is still there.
        """
        self._check()
        answer, loss = asyncio.ensure_future(self._reader.end()), asyncio.ensure_future(self._loss.wait())
        try:
            await asyncio.wait((answer,), timeout=SLOW_ANSWER_SECONDS)
            if not answer.done():
                self._topic_watch.look_soon()
                await asyncio.wait((answer, loss), return_when=asyncio.FIRST_COMPLETED)
            self._check()
            return await answer
        except UnavailableError:
            self._topic_watch.look_soon()
            raise
        finally:
            answer.cancel()
            loss.cancel()

    async def lost(self) -> CopycatError:
        """Wait until the topic is gone, or another one has taken its name."""
        return await self._loss.wait()

    async def crashed(self) -> BaseException:
        """Wait for a crash of the fold or of the election: Faust ends neither the process nor itself."""
        return await self._crash.wait()

    async def stop(self) -> None:
        """Finish the transaction under way, leave the group, disconnect."""
        self._cancelled.set()
        self._leadership.close()
        await self._group.close()
        await self._linger()
        await self._end_tasks()
        await self._election.stop()
        if self._materialiser is not None:
            await ended_within(LEAVE_TIMEOUT_SECONDS, self._materialiser.stop())
        await ended_within(LEAVE_TIMEOUT_SECONDS, self._sight.close())

    async def electorate(self) -> Electorate:
        """Ask the coordinator of the owner group."""
        owner = self._settings.owner_id
        return await read_electorate(self._reading, owner_group(owner), owner_topic(owner))

    async def claim(self) -> None:
        """Fence all others; fold what they, or we with an unknown outcome, have written.

        The fence ends what they have open, except what the brokers have forgotten: that is ended here.
        """
        await self._group.claim()
        owner, topic = self._settings.owner_id, self._settings.topic
        if await end_forgotten(self._reader, self._reading, owner, topic):
            await self._group.claim()
        try:
            async with asyncio.timeout(FOLD_TIMEOUT_SECONDS):
                await self._fold_to_end()
                await self._outcomes.settled()
        except TimeoutError:
            raise UnavailableError(
                f"The log could not be read to its end within {FOLD_TIMEOUT_SECONDS:g} s"
            ) from None

    def release(self) -> None:
        """Close the producer: this instance no longer leads."""
        self._group.release()

    @property
    def _reader(self) -> Materialiser:
        if self._materialiser is None:
            raise UnavailableError("The log was not started")
        return self._materialiser

    async def _wake_coordinators(self) -> None:
        owner = self._settings.owner_id
        await wake_coordinators(self._reading, owner_group(owner), owner)

    async def _prepared(self) -> int:
        try:
            return await asyncio.to_thread(self._prepare)
        except asyncio.CancelledError:
            self._cancelled.set()  # or the thread would go on to its deadline
            raise

    def _prepare(self) -> int:
        settings = self._settings
        brokers = Brokers(self._connection, settings.reachable_within, self._cancelled)
        partitions = ensure_log_topic(brokers, settings)
        ensure_owner_topic(brokers, settings)
        return partitions

    async def _keep_owner_topic(self) -> None:
        """Make the topic of the election anew where somebody deleted it: it is empty, so nothing is lost."""
        settings = self._settings
        topic = owner_topic(settings.owner_id)
        while settings.creates_topics:
            await asyncio.sleep(OWNER_TOPIC_LOOK_SECONDS)
            with suppress(UnavailableError):
                if await self._sight.look(topic) is None:
                    await make_topic(self._reading, topic, settings.replication_factor)

    def _connect(self) -> TransactionalProducer:
        return TransactionalProducer(self._connection, self._settings.topic, self._settings.owner_id)

    async def _reached(self, revision: Revision) -> None:
        await self._reader.reached(revision)

    async def _readable_end(self) -> Revision:
        return await self._reader.readable_end()

    async def _fold_to_end(self) -> None:
        reader = self._reader
        end = await reader.end()
        async with warning_of_open_transactions(self._settings.topic, lambda: reader.position, end):
            await reader.reached(end)

    def _folded(self, entries: Sequence[Entry], reached: Revision) -> None:
        self._outcomes.folded(entries)
        if self._fold is not None:
            self._fold(entries, reached)

    def _on_commit(self, batch: Batch) -> None:
        self._outcomes.committing(batch)

    def _check(self) -> None:
        if self._loss.reason is not None:
            raise self._loss.reason

    def _on_gone(self, another: bool) -> None:
        """Write and read nothing more, and say so to all who ask."""
        lost = lost_while_running(self._settings, another=another)
        log_change(log, "the log is lost", logging.ERROR, topic=self._settings.topic, why=lost.message)
        self._loss.set(lost)
        self._leadership.close("the log is lost")
        self.release()

    def _on_partitions(self, number: int) -> None:
        """Begin anew: records in partitions that nobody reads would be lost."""
        message = f"Topic '{self._settings.topic}' has {number} partitions now, not those that are read here"
        self._crash.set(UnavailableError(message))

    def _on_loss(self, batch: Batch, reason: str) -> None:
        self._topic_watch.look_soon()
        self._leadership.lost()
        self._outcomes.failed(batch, reason)

    def _on_overdue(self) -> None:
        """Claim the log anew, which ends what holds up the readers."""
        log_change(
            log,
            "what was written to the log cannot be read, so it is claimed anew",
            logging.WARNING,
            topic=self._settings.topic,
        )
        self.release()
        self._leadership.lost()

    async def _linger(self) -> None:
        try:
            async with asyncio.timeout(LAST_BATCH_TIMEOUT_SECONDS):
                await self._outcomes.shown()
        except (TimeoutError, UnavailableError):
            return

    async def _end_tasks(self) -> None:
        if self._questions:  # cut off while connecting, aiokafka would complain about a connection left open
            await asyncio.wait(tuple(self._questions), timeout=LAST_BATCH_TIMEOUT_SECONDS)
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _watch(self) -> None:
        reason = await self._election.crashed()
        if await self._topic_watch.is_same():  # a reader of one that was made anew may stand beyond its end
            self._crash.set(reason)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (reason := task.exception()) is not None:
            self._crash.set(reason)


class _Once(Generic[R]):
    """A reason that comes at most once."""

    def __init__(self) -> None:
        self._happened = asyncio.Event()
        self.reason: R | None = None

    def set(self, reason: R) -> None:
        if self.reason is None:
            self.reason = reason
            self._happened.set()

    async def wait(self) -> R:
        while self.reason is None:
            await self._happened.wait()
        return self.reason
