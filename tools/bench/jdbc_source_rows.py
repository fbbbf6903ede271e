"""Rows of the JDBC source: a table of a real PostgreSQL into a topic, beside a plain reader in Java."""

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

from tools.bench.load import Topics
from tools.bench.rest import Rest
from tools.bench.rows import Row
from tools.bench.samples import SAMPLE, Samples
from tools.bench.systems import Copycat, shipped_kafka

POSTGRES_TO_TOPIC: Final = "postgres-to-topic"
JDBC_SOURCE_ROWS: Final = (POSTGRES_TO_TOPIC,)
_TABLE: Final = "orders"
_QUERY: Final = f"SELECT * FROM {_TABLE} WHERE id > -1 ORDER BY id"  # noqa: S608  a constant
_FETCH_SIZE: Final = "1000"
_PACE: Final = 0.01
_SETTINGS: Final = (
    "a table of 8 columns and an index, read in order of its key, JsonConverter with schemas, one partition, "
    "default producer; beside pgjdbc with fetch size 1000, JsonConverter and the Java producer, without a "
    "framework"
)
_PEER: Final = Path(__file__).parent / "peers" / "JdbcToTopic.java"
_runs = itertools.count()


def jdbc_source_rows(
    folder: Path, names: Set[str], pairs: int, records: int, progress: Progress
) -> Iterator[Row]:
    """Measure the rows of those names, all of them without names."""
    if names and not names & {*JDBC_SOURCE_ROWS}:
        return
    with ExitStack() as stack:
        folder.chmod(0o711)  # the server runs under an account of its own where this one is root
        postgres = Postgres(folder / "postgres-source").start()
        stack.callback(postgres.stop)
        _fill(postgres, records)
        broker = stack.enter_context(shipped_kafka(folder / "broker-source"))
        ours = Copycat(folder / "copycat-source", broker.bootstrap)
        stack.callback(ours.stop)
        topics = Topics(broker.bootstrap)
        peer = stack.enter_context(_Java(folder / "classes", postgres, broker.bootstrap))
        sides: tuple[Callable[[str], Callable[[], None]], ...] = (
            lambda topic: _copycat(Rest(ours.url), postgres, topic),
            peer.start,
        )
        row, samples = Row(POSTGRES_TO_TOPIC, "records/s", _SETTINGS), Samples(bytes)
        task = progress.add_task(row.name, total=pairs + 1)
        for pair in range(pairs + 1):  # the first warms both and does not count
            figures = [_rate(topics, records, side, samples) for side in sides]
            if pair:
                row.ours.append(figures[0])
                row.peer.append(figures[1])
            progress.advance(task)
        yield row


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


def _rate(topics: Topics, count: int, start: Callable[[str], Callable[[], None]], samples: Samples) -> float:
    """Return the rate at which the table reaches a new topic, from the first record seen to the last."""
    topic = f"bench-rows-{next(_runs)}-{time.time_ns()}-{_TABLE}"
    topics.create(topic)
    stop = start(topic)
    started = wait(lambda: topics.end(topic) > 0, 60, "no record arrived", _PACE)
    first = topics.end(topic)
    ended = wait(lambda: topics.end(topic) >= count, 300, "not all records arrived", _PACE)
    stop()
    samples.compare(topics.first(topic, SAMPLE))
    topics.delete(topic)
    return (count - first) / (ended - started)


def _copycat(rest: Rest, postgres: Postgres, topic: str) -> Callable[[], None]:
    rest.create(
        topic,
        {
            "connector.class": "JdbcSource",
            "connection.url": postgres.url(),
            "connection.user": USER,
            "connection.password": SECRET,
            "mode": "incrementing",
            "incrementing.column.name": "id",
            "topic.prefix": topic.removesuffix(_TABLE),
            "batch.max.rows": _FETCH_SIZE,
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            "value.converter.schemas.enable": "true",
        },
    )
    return lambda: rest.delete(topic)


class _Java:
    """The peer: one process for all runs."""

    def __init__(self, folder: Path, postgres: Postgres, bootstrap: str) -> None:
        path = ":".join(map(str, ensure_jars(("jdbc", "connect"))))
        java = find_java().executable
        subprocess.run([java.with_name("javac"), "-cp", path, "-d", folder, _PEER], check=True)
        where = (postgres.url(), USER, SECRET, _QUERY, _TABLE, bootstrap, _FETCH_SIZE)
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

    def start(self, topic: str) -> Callable[[], None]:
        """Begin a run; returns what waits for its end."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{topic}\n")
        self._process.stdin.flush()
        return self._wait

    def _wait(self) -> None:
        assert self._process.stdout is not None
        while (line := self._process.stdout.readline()) != "done\n":
            if not line:
                message = f"the peer ended with {self._process.wait()}"
                raise RuntimeError(message)
