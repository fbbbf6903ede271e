"""JdbcSink's task: one transaction for each batch; under exactly-once with the positions in it."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress

from copycat_connect.data import SinkBatch, TopicPartition
from copycat_connect.errors import ConnectError, RetriableError
from copycat_connect.plugin import SinkTask
from copycat_connect.retry import TryCount

from copycat_jdbc.database import Database
from copycat_jdbc.errors import Refused
from copycat_jdbc.sink.positions import StoredPositions
from copycat_jdbc.sink.session import DatabaseSession
from copycat_jdbc.sink.settings import ATTEMPTS, MAX_RETRIES, JdbcSinkSettings
from copycat_jdbc.sink.store import Refusal, RowStore

_log = logging.getLogger(__name__)


class _Attempts:
    """When to try again what failed, by `max.retries` and `connection.attempts`."""

    def __init__(self, settings: JdbcSinkSettings) -> None:
        self._settings = settings
        self._writes = TryCount(settings.max_retries + 1)
        self._connections = TryCount(settings.connection_attempts)

    def succeeded(self) -> None:
        """Begin to count anew."""
        self._writes.succeed()
        self._connections.succeed()

    def failed(self, error: ConnectError) -> int:
        """Return in how many milliseconds to try again.

        Raises:
            ConnectError: It is not tried again: the error never passes, or came too often.
        """
        settings = self._settings
        if isinstance(error, Refused):
            tries = self._connections
            if not tries.fail():
                raise ConnectError(f"{error.message}; tried {tries.failed} times ({ATTEMPTS})") from error
            _log.warning("%s (attempt %d of %d)", error.message, tries.failed, settings.connection_attempts)
            return settings.connection_backoff_ms
        if not isinstance(error, RetriableError):
            raise error
        tries = self._writes
        if not tries.fail():
            raise ConnectError(f"{error.message}; tried {tries.failed} times ({MAX_RETRIES})") from error
        _log.warning("%s (retry %d of %d)", error.message, tries.failed, settings.max_retries)
        return settings.retry_backoff_ms


#: Under exactly-once a commit is asked for when so many records wait for it, or for so long, or no more come.
_RECORDS_OF_A_COMMIT = 10_000
_SECONDS_OF_A_COMMIT = 1.0


class JdbcSinkTask(SinkTask):
    """Takes a batch while the one before it is written: the database works as the next one is decoded.

    Only the database's own thread uses the connection. A batch that was taken is kept until it is committed,
    and is written again when the connection is lost meanwhile.
    """

    def __init__(self) -> None:
        self._thread: ThreadPoolExecutor | None = None
        self._positions: StoredPositions | None = None
        self._stale: StoredPositions | None = None
        self._job: Future[list[Refusal]] | None = None
        self._taken: list[SinkBatch] = []
        self._taken_at = 0.0
        self._failure: ConnectError | None = None  # final: nothing is committed after it

    def start(self, config: Mapping[str, str]) -> None:
        """Start with the configuration; the database is asked by the first `put`, or for positions."""
        self._settings = JdbcSinkSettings.parse(config)
        self._attempts = _Attempts(self._settings)
        self._session = DatabaseSession(Database(self._settings))
        reporter = self.context.errant_record_reporter
        self._store = RowStore(self._session, self._settings, finds_refused=reporter is not None)
        positions = StoredPositions(self._session, self._settings)
        if self._settings.exactly_once:
            self._positions = positions
        else:
            self._stale = positions
        self._thread = ThreadPoolExecutor(1, "jdbc-sink")

    def stored_positions(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int] | None:
        """Take over the positions from whoever had them, this task too; waits for a database that is away."""
        if self._positions is None:
            return None
        if self._job is not None:
            self._job.exception()
        self._job = None
        self._taken.clear()
        while True:
            try:
                found = self._in_thread().submit(self._positions.claim, partitions).result()
            except ConnectError as error:
                if self.context.wait(self._attempts.failed(error) / 1000):
                    raise
            else:
                self._attempts.succeeded()
                return found

    def put(self, records: SinkBatch) -> None:
        """Begin to write a batch, when the one before it is written.

        Raises:
            RetriableError: The database is away; this batch was not taken.
            ConnectError: It refuses the one before for good.
        """
        if self._failure is not None:
            raise self._failure
        self._finish()
        if self._lost:
            self._begin([])
            self._finish()
        if records:
            self._begin([records])
        if self._positions is not None and self._commit_due(more=bool(records)):
            self.context.request_commit()

    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        """Wait until all is written; under exactly-once, commit it with the positions.

        Returns:
            The offsets; none while something is not written, which the next `put` tries again, or fails for.

        Raises:
            ConnectError: Under exactly-once nobody knows what is committed: the engine asks for positions.
        """
        with suppress(ConnectError):
            self._finish()
        if self._failure is not None or self._lost:
            return {}
        if self._positions is not None:
            self._in_thread().submit(self._commit, self._positions, offsets).result()
            self._taken.clear()
        return offsets

    def stop(self) -> None:
        """Close the connection, once it is at rest; what is not committed is taken back."""
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.submit(self._session.close)
            thread.shutdown()

    @property
    def _lost(self) -> bool:
        """True when batches that were taken are neither committed nor in the open transaction."""
        return bool(self._taken) and (self._positions is None or not self._session.in_transaction)

    def _commit_due(self, *, more: bool) -> bool:
        waiting = sum(map(len, self._taken))
        late = time.monotonic() - self._taken_at >= _SECONDS_OF_A_COMMIT
        return waiting >= _RECORDS_OF_A_COMMIT or (waiting > 0 and (late or not more))

    def _begin(self, batches: Sequence[SinkBatch]) -> None:
        before = [*self._taken]
        if not before:
            self._taken_at = time.monotonic()
        self._taken += batches
        self._job = self._in_thread().submit(self._write, batches, before)

    def _finish(self) -> None:
        """Wait until nothing is being written any more; report what was refused."""
        job, self._job = self._job, None
        if job is None:
            return
        try:
            refused = job.result()
        except ConnectError as error:
            self.context.timeout(self._wait_millis(error))
            raise RetriableError(error.message) from error
        self._attempts.succeeded()
        try:
            self._report(refused)
        except ConnectError as error:
            self._failure = error
            raise
        if self._positions is None:
            self._taken.clear()

    def _wait_millis(self, error: ConnectError) -> int:
        try:
            return self._attempts.failed(error)
        except ConnectError as final:
            self._failure = final
            raise

    def _report(self, refused: Sequence[Refusal]) -> None:
        reporter = self.context.errant_record_reporter
        if reporter is not None:
            for record, reason in refused:
                reporter.report(record, reason)

    def _in_thread(self) -> ThreadPoolExecutor:
        if self._thread is None:
            raise ConnectError("JdbcSinkTask is not started")
        return self._thread

    def _write(self, batches: Sequence[SinkBatch], before: Sequence[SinkBatch]) -> list[Refusal]:
        session = self._session
        with ExitStack() as undo:
            undo.callback(session.close)
            if self._stale is not None:
                self._stale.forget()
                self._stale = None
            if session.in_transaction:
                refused = self._store.write(batches, before)
            else:
                session.begin()
                if self._positions is not None:
                    self._positions.hold()
                refused = self._store.write([*before, *batches])
            if self._positions is None:
                session.commit()
            undo.pop_all()
        return refused

    def _commit(self, positions: StoredPositions, offsets: Mapping[TopicPartition, int]) -> None:
        session = self._session
        with ExitStack() as undo:
            undo.callback(session.close)
            if not session.in_transaction:
                session.begin()
            positions.store(offsets)
            session.commit()
            undo.pop_all()
