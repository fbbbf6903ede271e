"""Rows of the JDBC sink: a topic into a table of a real PostgreSQL, beside a plain writer in Java."""

from __future__ import annotations

import itertools
import subprocess
import time
from collections.abc import Callable, Iterator, Set
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import psycopg
from copycat_embedded.jars import ensure_jars
from copycat_embedded.jvm import find_java
from copycat_testkit.eventually import wait
from copycat_testkit.postgres import SECRET, USER, Postgres
from rich.progress import Progress

from tools.bench.load import Topics, in_envelopes, write_lines
from tools.bench.rest import Rest
from tools.bench.rows import Row
from tools.bench.systems import Copycat, shipped_kafka

_INSERT: Final = "topic-to-postgres-insert"
_UPSERT: Final = "topic-to-postgres-upsert"
JDBC_SINK_ROWS: Final = (_INSERT, _UPSERT)
_TOPIC: Final = "bench-rows"
_FIRST_ID: Final = 100_000_000
_COLUMNS: Final = 'id bigint, "user" text, action text, path text, agent text, ms int'
_POLL, _BATCH = "500", "3000"
_PACE: Final = 0.01
_PEER: Final = Path(__file__).parent / "peers" / "TopicToJdbc.java"
_BESIDE: Final = (
    "143-byte JSON lines in envelopes, JsonConverter with schemas, 6 columns, one partition; beside the Java "
    f"consumer (max.poll.records={_POLL}), JsonConverter and pgjdbc (batch of {_BATCH}, "
    "reWriteBatchedInserts, a transaction a poll), without a framework"
)
_SETTINGS: Final = {
    _INSERT: f"insert.mode=insert, no key, {_BESIDE}",
    _UPSERT: f"insert.mode=upsert, half of the keys are there, {_BESIDE}",
}
_runs = itertools.count()
Start = Callable[[str, str], Callable[[], None]]


def jdbc_sink_rows(
    folder: Path, names: Set[str], pairs: int, records: int, progress: Progress
) -> Iterator[Row]:
    """Measure the rows of those names, all of them without names."""
    if names and not names & {*JDBC_SINK_ROWS}:
        return
    with ExitStack() as stack:
        folder.chmod(0o711)  # the server runs under an account of its own where this one is root
        postgres = Postgres(folder / "postgres-sink").start()
        stack.callback(postgres.stop)
        broker = stack.enter_context(shipped_kafka(folder / "broker-sink"))
        topics = Topics(broker.bootstrap)
        topics.create(_TOPIC)
        write_lines(folder / "rows.txt", records)
        topics.fill(_TOPIC, folder / "rows.txt", in_envelopes)
        ours = Copycat(folder / "copycat-sink", broker.bootstrap)
        stack.callback(ours.stop)
        peer = stack.enter_context(_Java(folder / "classes", postgres, broker.bootstrap, records))
        sides: tuple[Start, ...] = (
            lambda table, key: _copycat(Rest(ours.url), postgres, table, key),
            peer.start,
        )
        for name in JDBC_SINK_ROWS:
            if not names or name in names:
                row = Row(name, "records/s", _SETTINGS[name])
                task = progress.add_task(name, total=pairs + 1)
                for pair in range(pairs + 1):  # the first warms both and does not count
                    figures = [_rate(postgres, records, side, keyed=name == _UPSERT) for side in sides]
                    if pair:
                        row.ours.append(figures[0])
                        row.peer.append(figures[1])
                    progress.advance(task)
                yield row


def _rate(postgres: Postgres, count: int, start: Start, *, keyed: bool) -> float:
    """Return the rate at which the topic reaches a new table, from the first record seen to the last."""
    table = f"bench_{next(_runs)}"
    first, last = _FIRST_ID, _FIRST_ID + count - 1 - (count - 1) % 2
    with psycopg.connect(postgres.conninfo, autocommit=True) as database:
        database.execute(f"CREATE TABLE {table} ({_COLUMNS})")
        if keyed:
            database.execute(
                f"INSERT INTO {table} SELECT n, 'user-000000', 'page_view', '/products/000000', 'before', 0 "  # noqa: S608  names of our own
                f"FROM generate_series({first + 1}, {_FIRST_ID + count - 1}, 2) n"
            )
            database.execute(f"ALTER TABLE {table} ADD PRIMARY KEY (id)")
            database.execute(f"VACUUM ANALYZE {table}")
        else:
            # Tells of two records; the others pass by it.
            database.execute(f"CREATE INDEX ON {table} (id) WHERE id IN ({first}, {last})")

        def there(number: int) -> bool:
            found = database.execute(f"SELECT 1 FROM {table} WHERE id = {number}")  # noqa: S608
            return found.fetchone() is not None

        stop = start(table, "id" if keyed else "-")
        started = wait(lambda: there(first), 60, "no record arrived", _PACE)
        ended = wait(lambda: there(last), 300, "not all records arrived", _PACE)
        stop()
        check = f"SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE ms > 0) FROM {table}"  # noqa: S608
        found = database.execute(check).fetchone()
        if found != (count, count, count):
            message = f"of {count} records the table has {found}"
            raise RuntimeError(message)
        database.execute(f"DROP TABLE {table}")
        database.execute("CHECKPOINT")
    return count / (ended - started)


def _copycat(rest: Rest, postgres: Postgres, table: str, key: str) -> Callable[[], None]:
    keyed = {"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": key}
    name = f"bench-rows-{time.time_ns()}"
    rest.create(
        name,
        {
            "connector.class": "JdbcSink",
            "topics": _TOPIC,
            "connection.url": postgres.url(),
            "connection.user": USER,
            "connection.password": SECRET,
            "table.name.format": table,
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            **({} if key == "-" else keyed),
        },
    )
    return lambda: rest.delete(name)


class _Java:
    """The peer: one process for all runs."""

    def __init__(self, folder: Path, postgres: Postgres, bootstrap: str, count: int) -> None:
        path = ":".join(map(str, ensure_jars(("jdbc", "connect"))))
        java = find_java().executable
        subprocess.run([java.with_name("javac"), "-cp", path, "-d", folder, _PEER], check=True)
        where = (bootstrap, postgres.url(), USER, SECRET, _POLL, _BATCH)
        self._count = count
        self._process = subprocess.Popen(
            [java, "-cp", f"{folder}:{path}", _PEER.stem, *where],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> _Java:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def start(self, table: str, key: str) -> Callable[[], None]:
        """Begin a run; returns what waits for its end."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{_TOPIC} {table} {key} {self._count}\n")
        self._process.stdin.flush()
        return self._wait

    def _wait(self) -> None:
        assert self._process.stdout is not None
        while (line := self._process.stdout.readline()) != "done\n":
            if not line:
                message = f"the peer ended with {self._process.wait()}"
                raise RuntimeError(message)
