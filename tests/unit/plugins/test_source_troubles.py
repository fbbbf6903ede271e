"""Sources that are away or cannot be read: what is waited for, whose fault it is, and how reading goes on."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from copycat_connect.data import SourceRecord, UnreadableRecord
from copycat_connect.errors import ConfigError, ConnectError, RetriableError
from copycat_connect.failure_kind import FailureKind, kind_of
from copycat_connect.plugin import SourceConnector, SourceTask
from copycat_embedded.ports import free_ports
from copycat_jdbc.address import parse_address
from copycat_jdbc.database import Database, TableName
from copycat_jdbc.errors import FAILURES
from copycat_jdbc.failures import failed
from copycat_jdbc.source.choice import Chosen, TableMonitor
from copycat_jdbc.source.connector import JdbcSourceConnector
from copycat_jdbc.source.task import JdbcSourceTask
from copycat_mirror.checkpoint.connector import MirrorCheckpointConnector
from copycat_mirror.jobs import DueJobs
from copycat_mirror.source.connector import MirrorSourceConnector
from copycat_objects.source.task import ObjectSourceTask
from copycat_plugins.connectors.file_stream_source import FileStreamSourceTask
from copycat_plugins.connectors.log_source.task import LogSourceTask
from copycat_testkit.conformance import FakeConnectorContext, FakeSourceContext
from copycat_testkit.kafka import wait_until
from sqlalchemy.exc import DBAPIError

DEADLINE_SECONDS = 60.0


def run(file: Path, statement: str) -> None:
    with closing(sqlite3.connect(file, timeout=60)) as database, database:
        database.execute(statement)


def jdbc(url: str, **more: str) -> dict[str, str]:
    dotted = {key.replace("_", "."): value for key, value in more.items()}
    looks_often = {"table.poll.interval.ms": "20", "connection.backoff.ms": "20"}
    return {"connection.url": url, "mode": "bulk", "topic.prefix": "t-", **looks_often, **dotted}


@contextmanager
def started(connector: SourceConnector, config: dict[str, str]) -> Iterator[FakeConnectorContext]:
    context = FakeConnectorContext()
    connector.initialize(context)
    connector.start(config)
    try:
        yield context
    finally:
        connector.stop()


def waits(context: FakeConnectorContext | FakeSourceContext, text: str) -> None:
    wait_until(lambda: text in (context.waits_for or ""), DEADLINE_SECONDS, text)


def waits_no_more(context: FakeConnectorContext | FakeSourceContext) -> None:
    wait_until(lambda: context.waits_for is None, DEADLINE_SECONDS, "nothing is waited for")


def test_a_misspelt_table_is_waited_for_by_its_name_until_it_is_there(tmp_path: Path) -> None:
    file = tmp_path / "shop.db"
    run(file, "CREATE TABLE orders (id INTEGER)")
    connector = JdbcSourceConnector()
    with started(connector, jdbc(f"jdbc:sqlite:{file}", table_whitelist="orders,oders")) as context:
        waits(context, f"table.whitelist names what jdbc:sqlite:{file} does not have")
        assert (context.waits_for or "").endswith(": oders")
        assert [each["tables"] for each in connector.task_configs(2)] == ['[[null, null, "orders"]]']
        run(file, "CREATE TABLE oders (id INTEGER)")
        waits_no_more(context)
        wait_until(lambda: context.reconfigurations > 0, DEADLINE_SECONDS, "another division")


@pytest.mark.parametrize(
    ("lists", "text"), [({}, "it has none"), ({"table_include_list": "b.*"}, "it has 1 others")]
)
def test_a_database_without_any_table_to_read_is_waited_for(
    tmp_path: Path, lists: dict[str, str], text: str
) -> None:
    file = tmp_path / "shop.db"
    run(file, "CREATE TABLE a (id INTEGER)" if lists else "PRAGMA user_version = 1")
    with started(JdbcSourceConnector(), jdbc(f"jdbc:sqlite:{file}", **lists)) as context:
        waits(context, text)
        run(file, "CREATE TABLE b1 (id INTEGER)")
        waits_no_more(context)


def test_a_database_that_nobody_listens_at_is_waited_for_and_ends_no_task() -> None:
    (port,) = free_ports(1)
    connector = JdbcSourceConnector()
    url = f"jdbc:postgresql://127.0.0.1:{port}/shop"
    with started(connector, jdbc(url, connection_password="hidden-7c")) as context:
        with pytest.raises(RetriableError, match=f"No server answers at {url}") as raised:
            connector.task_configs(1)
        assert "hidden-7c" not in raised.value.message
        waits(context, f"No server answers at {url}")
        assert context.errors == []


class Choice:
    """Chooses as a test says, one answer a look; the last one again and again."""

    def __init__(self, *answers: list[str] | BaseException) -> None:
        self._answers = list(answers)
        self.next = threading.Semaphore(0)

    def tables(self, database: Database) -> Chosen:
        assert self.next.acquire(timeout=DEADLINE_SECONDS)
        answer = self._answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return Chosen([TableName(None, "public", name) for name in answer], None)


@contextmanager
def watched(
    tmp_path: Path, *answers: list[str] | BaseException
) -> Iterator[tuple[TableMonitor, Choice, FakeConnectorContext]]:
    context, choice = FakeConnectorContext(), Choice(*answers)
    monitor = TableMonitor(context, jdbc(f"jdbc:sqlite:{tmp_path / 'x.db'}"), choice)
    monitor.start()
    try:
        yield monitor, choice, context
    finally:
        monitor.stop()
        choice.next.release()


def test_tables_that_cannot_be_read_as_they_are_are_looked_at_until_somebody_mended_them(
    tmp_path: Path,
) -> None:
    twice = ConnectError("Several tables have the same name")
    with watched(tmp_path, twice, ["a"], twice, ["a"]) as (monitor, choice, context):
        choice.next.release()
        with pytest.raises(ConnectError, match="Several tables"):
            monitor.tables(DEADLINE_SECONDS)
        assert context.errors == [], "tasks that there are go on"
        choice.next.release()
        wait_until(lambda: context.reconfigurations == 1, DEADLINE_SECONDS, "asked again")
        assert [str(table) for table in monitor.tables(0)] == ["public.a"]
        choice.next.release()
        wait_until(lambda: context.reconfigurations == 2, DEADLINE_SECONDS, "asked once more")
        with pytest.raises(ConnectError, match="Several tables"):
            monitor.tables(0)


def test_a_database_that_is_away_later_is_waited_for_with_the_tables_as_they_were(tmp_path: Path) -> None:
    with watched(tmp_path, ["a"], RetriableError("away"), ["a"]) as (monitor, choice, context):
        choice.next.release()
        before = monitor.tables(DEADLINE_SECONDS)
        choice.next.release()
        waits(context, "away")
        assert monitor.tables(0) == before
        choice.next.release()
        waits_no_more(context)
        assert context.reconfigurations == 0


@pytest.mark.parametrize("end", [ZeroDivisionError("no"), SystemExit(3), MemoryError()])
def test_a_monitor_that_ends_by_an_error_fails_its_connector(tmp_path: Path, end: BaseException) -> None:
    with watched(tmp_path, ["a"], end) as (monitor, choice, context):
        choice.next.release()
        monitor.tables(DEADLINE_SECONDS)
        choice.next.release()
        assert context.failed.wait(DEADLINE_SECONDS)
        assert context.errors == [end]


def mirror(port: int) -> dict[str, str]:
    return {
        "source.cluster.alias": "primary",
        "target.cluster.alias": "backup",
        "source.cluster.bootstrap.servers": f"127.0.0.1:{port}",
        "target.cluster.bootstrap.servers": f"127.0.0.1:{port}",
        "admin.timeout.ms": "1000",
    }


@pytest.mark.parametrize("connector", [MirrorSourceConnector(), MirrorCheckpointConnector()])
def test_a_cluster_that_does_not_answer_is_waited_for_and_ends_no_task(connector: SourceConnector) -> None:
    (port,) = free_ports(1)
    with started(connector, mirror(port)) as context:
        with pytest.raises(RetriableError, match=rf"\(127\.0\.0\.1:{port}\)"):
            connector.task_configs(1)
        waits(context, f"(127.0.0.1:{port})")
        assert context.errors == []


def jobs_of(*jobs: tuple[str, Callable[[], str | None]]) -> tuple[DueJobs, FakeConnectorContext]:
    context = FakeConnectorContext()
    made = DueJobs("test", context)
    for what, job in jobs:
        made.repeat(job, 0.01, what, at_once=True)
    made.start()
    return made, context


def test_a_job_that_fails_is_what_its_connector_waits_for_until_it_works() -> None:
    works = threading.Event()

    def job() -> None:
        if not works.is_set():
            raise KeyError("k")

    jobs, context = jobs_of(("taking over rights", job), ("looking", lambda: "topics at primary"))
    waits(context, "taking over rights fails: KeyError: 'k'; topics at primary")
    works.set()
    wait_until(lambda: context.waits_for == "topics at primary", DEADLINE_SECONDS, "the job works")
    jobs.stop()
    assert context.errors == []


@pytest.mark.parametrize("end", [SystemExit(3), ConfigError("topics has a pattern that takes too long")])
def test_jobs_that_end_by_an_error_fail_their_connector(end: BaseException) -> None:

    def job() -> None:
        raise end

    _, context = jobs_of(("looking", job))
    assert context.failed.wait(DEADLINE_SECONDS)
    assert context.errors == [end]


@contextmanager
def polled(task: SourceTask, config: dict[str, str]) -> Iterator[FakeSourceContext]:
    """Start a task whose waits end at once."""
    context = FakeSourceContext(config)
    context.stopping.set()
    task.initialize(context)
    task.start(config)
    try:
        task.poll()
        yield context
    finally:
        task.stop()


def test_a_file_that_does_not_exist_is_waited_for(tmp_path: Path) -> None:
    file, task = tmp_path / "in.txt", FileStreamSourceTask()
    with polled(task, {"file": str(file), "topic": "t"}) as context:
        assert context.waits_for == f"file {file}, which does not exist"
        file.write_text("a line\n")
        assert task.poll() is not None
        assert context.waits_for is None


@pytest.mark.parametrize(
    ("files", "says"),
    [("app.log", "file {0}/app.log"), ("logs/*.log", "folder {0}/logs"), ("logs/**", "folder {0}/logs")],
)
def test_logs_and_folders_that_do_not_exist_are_waited_for(tmp_path: Path, files: str, says: str) -> None:
    now = [0.0]
    task = LogSourceTask(lambda: now[0])
    config = {"files": str(tmp_path / files), "topic": "t", "share": "0/1"}
    with polled(task, config) as context:
        assert context.waits_for == f"what does not exist: {says.format(tmp_path)}"
        (tmp_path / "logs").mkdir()
        (tmp_path / "app.log").write_text("a line\n")
        now[0] += 60
        task.poll()
        assert context.waits_for is None
        (tmp_path / "app.log").unlink()
        now[0] += 60
        task.poll()
        assert context.waits_for is None, "it may have been rotated away"


def test_a_folder_without_logs_is_idle(tmp_path: Path) -> None:
    config = {"files": str(tmp_path / "*.log"), "topic": "t", "share": "0/1"}
    with polled(LogSourceTask(lambda: 0.0), config) as context:
        assert context.waits_for is None


@pytest.mark.parametrize("prefix", ["", "a/b"])
def test_a_folder_of_objects_that_does_not_exist_is_waited_for(tmp_path: Path, prefix: str) -> None:
    root, task = tmp_path / "in", ObjectSourceTask()
    config = {
        "topic": "t", "store.url": f"file://{root}", "prefix": prefix, "object.poll.interval.ms": "1",
    }  # fmt: skip
    with polled(task, config) as context:
        folder = "/".join(part for part in (f"file://{root}", prefix) if part)
        assert context.waits_for == f"folder {folder}, which does not exist"
        (root / prefix).mkdir(parents=True)

        def there() -> bool:
            task.poll()
            return context.waits_for is None

        wait_until(there, DEADLINE_SECONDS, "an empty folder is idle")


class _Cause(Exception):
    """A driver's error with a code."""

    def __init__(self, number: int = 0, **codes: object) -> None:
        super().__init__(number, "said")
        vars(self).update(codes)


@pytest.mark.parametrize(
    ("cause", "kind"),
    [
        (_Cause(sqlstate="42703"), FailureKind.CONFIGURATION),
        (_Cause(sqlstate="42601"), FailureKind.CONFIGURATION),
        (_Cause(sqlstate="42501"), FailureKind.AUTHORISATION),
        (_Cause(sqlstate="22P02"), FailureKind.POISON_RECORD),
        (_Cause(sqlstate="23505"), FailureKind.POISON_RECORD),
        (_Cause(sqlstate="57P01"), FailureKind.TRANSIENT),
        (_Cause(1054), FailureKind.CONFIGURATION),
        (_Cause(1064), FailureKind.CONFIGURATION),
        (_Cause(1142), FailureKind.AUTHORISATION),
        (_Cause(1406), FailureKind.POISON_RECORD),
        (_Cause(1213), FailureKind.TRANSIENT),
        (_Cause(sqlite_errorcode=1), FailureKind.CONFIGURATION),
        (_Cause(sqlite_errorcode=8), FailureKind.AUTHORISATION),
        (_Cause(sqlite_errorcode=275), FailureKind.POISON_RECORD),
        (_Cause(sqlstate="XX000"), None),
    ],
)
def test_what_a_database_refuses_is_told_from_its_code(cause: Exception, kind: FailureKind | None) -> None:
    error = failed(DBAPIError(None, None, cause), "read", parse_address("jdbc:sqlite:x"), None)
    assert kind_of(error, FAILURES) is kind


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({"mode": "bulk", "query": "SELECT nothing FROM rows"}, "query"),
        ({"mode": "bulk", "query": "SELEC"}, "query"),
        ({"mode": "bulk", "query.suffix": "WHERE nothing = 1"}, "query.suffix"),
        ({"mode": "incrementing", "incrementing.column.name": "nothing"}, "incrementing.column.name"),
        ({"mode": "timestamp", "timestamp.column.name": "nothing"}, "timestamp.column.name"),
        (
            {"mode": "incrementing", "incrementing.column.name": "no", "query": "SELECT id FROM rows"},
            "query",
        ),
    ],
)
def test_a_mistake_in_what_is_to_be_read_is_one_of_the_configuration(
    tmp_path: Path, config: Mapping[str, str], key: str
) -> None:
    with closing(sqlite3.connect(tmp_path / "x.db")) as database:
        database.executescript("CREATE TABLE rows (id INTEGER PRIMARY KEY); INSERT INTO rows VALUES (1)")
    whole = {"connection.url": f"jdbc:sqlite:{tmp_path / 'x.db'}", "topic.prefix": "t-", **config}
    if "query" not in config:
        whole["tables"] = '[[null, null, "rows"]]'
    task = JdbcSourceTask()
    task.initialize(FakeSourceContext(whole))
    task.start(whole)
    with pytest.raises(ConnectError) as raised:
        for _ in range(5):
            task.poll()
    task.stop()
    assert kind_of(raised.value, FAILURES) is FailureKind.CONFIGURATION
    assert key in raised.value.message


@pytest.mark.parametrize("ahead", ["0", "100"])
def test_a_row_that_cannot_be_read_stands_in_its_place(tmp_path: Path, ahead: str) -> None:
    with closing(sqlite3.connect(tmp_path / "x.db")) as database:
        database.executescript(
            "CREATE TABLE rows (id INTEGER PRIMARY KEY, price DECIMAL(5, 2));"
            "INSERT INTO rows VALUES (1, 1.5), (2, 'dear'), (3, 2.5)"
        )
    whole = {
        "connection.url": f"jdbc:sqlite:{tmp_path / 'x.db'}", "topic.prefix": "t-", "mode": "incrementing",
        "incrementing.column.name": "id", "tables": '[[null, null, "rows"]]', "max.buffer.size": ahead,
    }  # fmt: skip
    task = JdbcSourceTask()
    task.initialize(FakeSourceContext(whole))
    task.start(whole)
    found: list[SourceRecord] = []

    def all_read() -> bool:
        found.extend(task.poll() or ())
        return len(found) == 3

    wait_until(all_read, 60, "all rows are read")
    task.stop()
    first, bad, last = found
    assert [str(record.value) for record in (first, last)] == [
        "Struct{id=1,price=1.50}",
        "Struct{id=3,price=2.50}",
    ]
    assert isinstance(bad, UnreadableRecord)
    assert bad.value == '{"id": 2, "price": "dear"}'
    assert "Column price of table rows cannot be read in row 2" in str(bad.error)
    assert [record.source_offset for record in found] == [{"incrementing": each} for each in (1, 2, 3)]
