"""Rows of the JDBC connectors: a topic and a table of a real PostgreSQL, beside plain programs in Java."""

from __future__ import annotations

import itertools
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

import psycopg
from copycat_embedded.jars import ensure_jars
from copycat_embedded.jvm import find_java
from copycat_testkit.eventually import wait
from copycat_testkit.postgres import SECRET, USER, Postgres

from tools.bench.rows import RECORDS_PER_SECOND, Row, Run
from tools.bench.systems import Copycat, Rest, shipped_kafka
from tools.bench.topics import PACE, SAMPLE, Samples, Topics, in_envelopes, write_lines

_FROM_POSTGRES: Final = "postgres-to-topic"
JDBC_SOURCE_ROWS: Final = (_FROM_POSTGRES,)
_TABLE: Final = "orders"
_QUERY: Final = f"SELECT * FROM {_TABLE} WHERE id > -1 ORDER BY id"  # noqa: S608  a constant
_FETCH_SIZE: Final = "1000"
_SOURCE_SETTINGS: Final = (
    "a table of 8 columns and an index, read in order of its key, JsonConverter with schemas, one partition, "
    "default producer; beside pgjdbc with fetch size 1000, JsonConverter and the Java producer, without a "
    "framework"
)

_INSERT: Final = "topic-to-postgres-insert"
_UPSERT: Final = "topic-to-postgres-upsert"
JDBC_SINK_ROWS: Final = (_INSERT, _UPSERT)
_TOPIC: Final = "bench-rows"
_FIRST_ID: Final = 100_000_000
_COLUMNS: Final = 'id bigint, "user" text, action text, path text, agent text, ms int'
_POLL, _BATCH = "500", "3000"
_BESIDE: Final = (
    "143-byte JSON lines in envelopes, JsonConverter with schemas, 6 columns, one partition; beside the Java "
    f"consumer (max.poll.records={_POLL}), JsonConverter and pgjdbc (batch of {_BATCH}, "
    "reWriteBatchedInserts, a transaction a poll), without a framework"
)
_SINK_SETTINGS: Final = {
    _INSERT: f"insert.mode=insert, no key, {_BESIDE}",
    _UPSERT: f"insert.mode=upsert, half of the keys are there, {_BESIDE}",
}

_PEERS: Final = Path(__file__).parent / "peers"
_JSON: Final = "org.apache.kafka.connect.json.JsonConverter"
_runs = itertools.count()
_Stop = Callable[[], None]


def jdbc_source_rows(run: Run) -> Iterator[Row]:
    """Measure the JDBC source, a table into a topic."""
    folder, count = run.folder, run.records
    with ExitStack() as stack:
        postgres = _postgres(stack, folder, "postgres-source")
        _fill(postgres, count)
        broker = stack.enter_context(shipped_kafka(folder / "broker-source"))
        ours = Copycat(folder / "copycat-source", broker.bootstrap)
        stack.callback(ours.stop)
        where = (postgres.url(), USER, SECRET, _QUERY, _TABLE, broker.bootstrap, _FETCH_SIZE)
        peer = stack.enter_context(_JavaPeer(folder / "classes", "JdbcToTopic", where))
        rate = partial(_source_rate, Topics(broker.bootstrap), count, Samples(bytes))
        sides = {
            "ours": partial(rate, partial(_start_source, Rest(ours.url), postgres)),
            "peer": partial(rate, peer.start),
        }
        yield run.measure(Row(_FROM_POSTGRES, RECORDS_PER_SECOND, _SOURCE_SETTINGS), sides)


def _fill(postgres: Postgres, records: int) -> None:
    with psycopg.connect(postgres.conninfo, autocommit=True) as database:
        database.execute(
            f"CREATE TABLE {_TABLE} (id bigint PRIMARY KEY, customer int NOT NULL, amount double precision "
            "NOT NULL, paid boolean NOT NULL, word text NOT NULL, note text, quantity smallint NOT NULL, "
            "at timestamptz NOT NULL)"
        )
        database.execute(
            f"INSERT INTO {_TABLE} SELECT n, n %% 1000, n / 4.0, n %% 3 = 0, 'item-' || n, "  # noqa: S608
            "CASE WHEN n %% 5 > 0 THEN 'a note of forty letters about the order ' || n END, n %% 100, "
            "timestamptz '2026-01-01' + n * interval '1 ms' FROM generate_series(1, %s) n",
            (records,),
        )
        database.execute(f"VACUUM ANALYZE {_TABLE}")


def _source_rate(topics: Topics, count: int, samples: Samples, start: Callable[[str], _Stop]) -> float:
    """Return the rate at which the table reaches a new topic, from the first record seen to the last."""
    topic = f"bench-rows-{next(_runs)}-{time.time_ns()}-{_TABLE}"
    topics.create(topic)
    stop = start(topic)
    rate = topics.arrival_rate(topic, count)
    stop()
    samples.compare(topics.first(topic, SAMPLE))
    topics.delete(topic)
    return rate


def _start_source(rest: Rest, postgres: Postgres, topic: str) -> _Stop:
    rest.create(
        topic,
        {
            "connector.class": "JdbcSource",
            **_connection(postgres),
            "mode": "incrementing",
            "incrementing.column.name": "id",
            "topic.prefix": topic.removesuffix(_TABLE),
            "batch.max.rows": _FETCH_SIZE,
            "value.converter": _JSON,
            "value.converter.schemas.enable": "true",
        },
    )
    return lambda: rest.delete(topic)


def jdbc_sink_rows(run: Run) -> Iterator[Row]:
    """Measure the JDBC sink, a topic into a table."""
    folder, count = run.folder, run.records
    with ExitStack() as stack:
        postgres = _postgres(stack, folder, "postgres-sink")
        broker = stack.enter_context(shipped_kafka(folder / "broker-sink"))
        topics = Topics(broker.bootstrap)
        topics.create(_TOPIC)
        write_lines(folder / "rows.txt", count)
        topics.fill(_TOPIC, folder / "rows.txt", in_envelopes)
        ours = Copycat(folder / "copycat-sink", broker.bootstrap)
        stack.callback(ours.stop)
        where = (broker.bootstrap, postgres.url(), USER, SECRET, _POLL, _BATCH)
        peer = stack.enter_context(_JavaPeer(folder / "classes", "TopicToJdbc", where))
        for name in JDBC_SINK_ROWS:
            if run.wants(name):
                rate = partial(_sink_rate, postgres, count, keyed=name == _UPSERT)
                sides = {
                    "ours": partial(rate, partial(_start_sink, Rest(ours.url), postgres)),
                    "peer": partial(
                        rate, lambda table, key: peer.start(f"{_TOPIC} {table} {key or '-'} {count}")
                    ),
                }
                yield run.measure(Row(name, RECORDS_PER_SECOND, _SINK_SETTINGS[name]), sides)


def _sink_rate(postgres: Postgres, count: int, start: Callable[[str, str], _Stop], *, keyed: bool) -> float:
    """Return the rate at which the topic reaches a new table, from the first record seen to the last.

    Raises:
        RuntimeError: The table has more, fewer or other records than the topic.
    """
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
            # Finds two records; the others cost it nothing.
            database.execute(f"CREATE INDEX ON {table} (id) WHERE id IN ({first}, {last})")

        def there(number: int) -> bool:
            found = database.execute(f"SELECT 1 FROM {table} WHERE id = {number}")  # noqa: S608
            return found.fetchone() is not None

        stop = start(table, "id" if keyed else "")
        started = wait(lambda: there(first), 60, "no record arrived", PACE)
        ended = wait(lambda: there(last), 300, "not all records arrived", PACE)
        stop()
        check = f"SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE ms > 0) FROM {table}"  # noqa: S608
        found = database.execute(check).fetchone()
        if found != (count, count, count):
            raise RuntimeError(f"of {count} records the table has {found}")
        database.execute(f"DROP TABLE {table}")
        database.execute("CHECKPOINT")
    return count / (ended - started)


def _start_sink(rest: Rest, postgres: Postgres, table: str, key: str) -> _Stop:
    keyed = {"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": key}
    name = f"bench-rows-{time.time_ns()}"
    rest.create(
        name,
        {
            "connector.class": "JdbcSink",
            "topics": _TOPIC,
            **_connection(postgres),
            "table.name.format": table,
            "value.converter": _JSON,
            **(keyed if key else {}),
        },
    )
    return lambda: rest.delete(name)


def _postgres(stack: ExitStack, folder: Path, name: str) -> Postgres:
    folder.chmod(0o711)  # the server runs under an account of its own where this one is root
    postgres = Postgres(folder / name).start()
    stack.callback(postgres.stop)
    return postgres


def _connection(postgres: Postgres) -> dict[str, str]:
    return {
        "connection.url": postgres.url(),
        "connection.user": USER,
        "connection.password": SECRET,
    }


class _JavaPeer:
    """A program of `peers`: one process for all runs, which it is given as lines."""

    def __init__(self, folder: Path, name: str, arguments: tuple[str, ...]) -> None:
        path = ":".join(map(str, ensure_jars(("jdbc", "connect"))))
        java = find_java().executable
        javac = java.with_name("javac")
        subprocess.run([javac, "-cp", path, "-d", folder, _PEERS / f"{name}.java"], check=True)
        self._process = subprocess.Popen(
            [java, "-cp", f"{folder}:{path}", name, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> _JavaPeer:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def start(self, line: str) -> _Stop:
        """Begin a run; returns what waits for its end."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self._wait

    def _wait(self) -> None:
        assert self._process.stdout is not None
        while (line := self._process.stdout.readline()) != "done\n":
            if not line:
                raise RuntimeError(f"the peer ended with {self._process.wait()}")
