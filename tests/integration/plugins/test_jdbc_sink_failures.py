"""The JDBC sink when its server is away, restarts, refuses a login, changes a table, or holds a dead task."""

from __future__ import annotations

import logging

import psycopg
import pytest
from copycat_connect.data import SinkBatch
from copycat_connect.errors import ConnectError, RetriableError
from copycat_connect.failure_kind import FailureKind, kind_of
from copycat_jdbc.sink.connector import JdbcSinkConnector
from copycat_jdbc.sink.plugin import PLUGIN
from copycat_jdbc.sink.task import JdbcSinkTask
from copycat_testkit.kafka import wait_until
from copycat_testkit.mariadb import MariaDb
from copycat_testkit.postgres import SECRET, Postgres

from tests.integration.plugins.jdbc_tables import (
    PARTITION,
    TOPIC,
    Place,
    of_mariadb,
    of_postgres,
    order,
    put,
    started,
)

pytestmark = pytest.mark.long

EXACTLY_ONCE = {"delivery_guarantee": "exactly_once"}
WRONG = "wrong-9c1"


@pytest.fixture(params=["postgresql", "mariadb"])
def server(request: pytest.FixtureRequest) -> Postgres | MariaDb:
    name = "postgres" if request.param == "postgresql" else "mariadb"
    found: Postgres | MariaDb = request.getfixturevalue(name)
    return found


@pytest.fixture
def place(server: Postgres | MariaDb) -> Place:
    found = of_postgres(server) if isinstance(server, Postgres) else of_mariadb(server)
    found.run(f"DROP TABLE IF EXISTS {TOPIC}", "DROP TABLE IF EXISTS copycat_offsets")
    return found


@pytest.fixture
def pg(postgres: Postgres) -> Place:
    found = of_postgres(postgres)
    found.run(f"DROP TABLE IF EXISTS {TOPIC}", "DROP TABLE IF EXISTS copycat_offsets")
    return found


def numbers(place: Place) -> list[int]:
    return sorted(number for (number,) in place.run(f"SELECT id FROM {TOPIC}"))  # noqa: S608


def put_again(task: JdbcSinkTask, number: int) -> bool:
    """Put a record, again and again as the engine does, until it is taken."""
    try:
        task.put(SinkBatch.of([order(number, "w", number)]))
    except RetriableError:
        return False
    return True


@pytest.mark.parametrize("delivery", [{}, EXACTLY_ONCE], ids=["at-least-once", "exactly-once"])
def test_a_restart_of_the_server_loses_and_repeats_nothing(
    server: Postgres | MariaDb, place: Place, delivery: dict[str, str]
) -> None:
    task, _ = started(place, max_retries="100000", connection_attempts="100000", **delivery)
    put(task, [order(0, "w")])
    assert task.pre_commit({PARTITION: 1}) == {PARTITION: 1}
    task.put(SinkBatch.of([order(1, "w", 1)]))
    put(task, [])
    server.stop()
    assert put_again(task, 2)  # taken; that the server is away shows with the next
    wait_until(lambda: not put_again(task, 3), 60, "the task notices")
    assert task.pre_commit({PARTITION: 3}) == {}
    server.start()
    wait_until(lambda: put_again(task, 3), 60, "the task goes on")
    wait_until(lambda: task.pre_commit({PARTITION: 4}), 60, "all is committed")
    task.stop()
    assert numbers(place) == [0, 1, 2, 3]


def test_a_server_that_stays_away_fails_the_task_with_the_key_that_says_when(
    server: Postgres | MariaDb, place: Place
) -> None:
    task, context = started(place, max_retries="2")
    server.stop()
    try:
        with pytest.raises(ConnectError, match=r"tried 3 times \(max\.retries\)") as raised:
            wait_until(lambda: put_again(task, 1), 60, "it fails")
            wait_until(lambda: put_again(task, 2), 60, "it fails")
        assert not isinstance(raised.value, RetriableError)
        assert "connection.url" in raised.value.message
        assert place.config["connection.password"] not in raised.value.message
        assert task.pre_commit({PARTITION: 1}) == {}
        assert context.timeout_millis == 20
        task.stop()
    finally:
        server.start()


def test_a_refused_login_fails_after_so_many_attempts_and_never_shows_the_password(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    task, _ = started(Place({**place.config, "connection.password": WRONG}, place.connect))
    told = r"connection\.password.*tried 3 times \(connection\.attempts\)"
    with pytest.raises(ConnectError, match=told) as failure:
        wait_until(lambda: put_again(task, 1) and put_again(task, 2), 60, "it fails")
    assert kind_of(failure.value, PLUGIN.failures) is FailureKind.AUTHORISATION
    task.stop()
    assert WRONG not in caplog.text
    assert SECRET not in caplog.text


def test_a_server_without_free_connections_is_tried_again(pg: Place, postgres: Postgres) -> None:
    task, _ = started(pg, connection_attempts="100000")
    taken = []
    try:
        with pytest.raises(psycopg.OperationalError):
            while True:
                taken.append(psycopg.connect(postgres.conninfo))
        assert put_again(task, 1)
        assert not put_again(task, 2)
        hasty, _ = started(pg, connection_attempts="1")
        with pytest.raises(ConnectError, match="has no connection left") as failure:
            wait_until(lambda: put_again(hasty, 1) and put_again(hasty, 2), 60, "it fails")
        assert kind_of(failure.value, PLUGIN.failures) is FailureKind.RESOURCE
        hasty.stop()
    finally:
        for each in taken:
            each.close()
    wait_until(lambda: put_again(task, 2), 60, "a connection is free")
    assert task.pre_commit({PARTITION: 3}) == {PARTITION: 3}
    task.stop()
    assert numbers(pg) == [1, 2]


def test_a_table_that_is_dropped_meanwhile_is_made_again(place: Place) -> None:
    task, context = started(place)
    put(task, [order(1, "w")])
    place.run(f"DROP TABLE {TOPIC}")
    put(task, [order(2, "w", 1)])
    task.stop()
    assert numbers(place) == [2]
    assert context.errant_record_reporter.reported == []


def test_a_frozen_task_that_holds_rows_is_cut_off_by_its_successor(place: Place) -> None:
    place.run(f"CREATE TABLE {TOPIC} (id INT PRIMARY KEY, word VARCHAR(20))")
    keys = {"insert_mode": "upsert", "pk_mode": "record_value", "pk_fields": "id", **EXACTLY_ONCE}
    frozen, _ = started(place, **keys)
    put(frozen, [order(1, "of the dead")])  # uncommitted: others wait for this row
    successor, _ = started(place, **keys)
    put(successor, [order(1, "of the living")])
    assert successor.pre_commit({PARTITION: 1}) == {PARTITION: 1}
    outcomes: list[object] = []
    for call in (
        lambda: frozen.put(SinkBatch.of([order(2, "of the dead", 1)])),
        lambda: frozen.put(SinkBatch.of([])),
        lambda: frozen.put(SinkBatch.of([])),
        lambda: frozen.pre_commit({PARTITION: 2}),
    ):
        try:
            outcomes.append(call())
        except ConnectError as error:
            outcomes.append(error)
    assert isinstance(outcomes[-1], ConnectError), "it must not commit"
    frozen.stop()
    successor.stop()
    assert place.run(f"SELECT id, word FROM {TOPIC}") == [(1, "of the living")]  # noqa: S608
    found = place.run("SELECT connector, topic, kafka_partition, position FROM copycat_offsets")
    assert found == [("sink", TOPIC, 0, 1)]


def test_what_one_guarantee_stored_does_not_count_after_another(pg: Place) -> None:
    first, context = started(pg, **EXACTLY_ONCE)
    put(first, [order(1, "w")])
    first.pre_commit({PARTITION: 1})
    first.stop()
    second, _ = started(pg)
    put(second, [order(2, "w", 1)])
    second.stop()
    assert pg.run("SELECT * FROM copycat_offsets") == []
    assert JdbcSinkConnector().alter_offsets(context.configs(), {PARTITION: 7})
    third, _ = started(pg, **EXACTLY_ONCE)
    assert third.stored_positions([PARTITION]) == {PARTITION: 7}
    third.stop()
