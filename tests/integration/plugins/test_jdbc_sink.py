"""The JDBC sink on real servers and a file of SQLite: modes, keys, tables, types, refused records."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from copycat_connect.data import (
    BOOLEAN_SCHEMA,
    DATE_SCHEMA,
    FLOAT64_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_BYTES_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    Schema,
    SchemaBuilder,
    SchemaType,
    SinkBatch,
    SinkRecord,
    Struct,
    decimal_schema,
)
from copycat_connect.errors import ConnectError
from copycat_jdbc.sink.settings import EXAMPLES
from copycat_testkit.postgres import Postgres

from tests.integration.plugins.jdbc_tables import (
    ORDER,
    PARTITION,
    TOPIC,
    Place,
    of_mariadb,
    of_postgres,
    of_sqlite,
    order,
    put,
    started,
    tombstone,
)

pytestmark = pytest.mark.long


@pytest.fixture(params=["postgresql", "mariadb", "sqlite"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "sqlite":
        return of_sqlite(tmp_path / "rows.db")
    if request.param == "mariadb":
        found = of_mariadb(request.getfixturevalue("mariadb"))
    else:
        found = of_postgres(request.getfixturevalue("postgres"))
    found.run(*(f"DROP TABLE IF EXISTS {table}" for table in (TOPIC, "kinds", "copycat_offsets")))
    return found


@pytest.fixture
def pg(postgres: Postgres) -> Place:
    found = of_postgres(postgres)
    found.run(*(f"DROP TABLE IF EXISTS {table}" for table in (TOPIC, "kinds", "copycat_offsets")))
    return found


def rows(place: Place) -> list[tuple[Any, ...]]:
    return place.run(f"SELECT id, word FROM {TOPIC} ORDER BY id, word")  # noqa: S608


@pytest.mark.parametrize("title", EXAMPLES)
def test_the_examples_of_its_page_run(postgres: Postgres, tmp_path: Path, title: str) -> None:
    example = EXAMPLES[title]
    table = example.get("table.name.format", "${topic}").replace("${topic}", example["topics"])
    place = of_sqlite(tmp_path / "x.db") if "sqlite" in example["connection.url"] else of_postgres(postgres)
    place.run(f"DROP TABLE IF EXISTS {table}")
    task, context = started(Place({**example, **place.config}, place.connect))
    key = Struct(SchemaBuilder.struct().field("id", INT32_SCHEMA).build(), {"id": 5})
    value = Struct(ORDER, {"id": 5, "word": "w"})
    record = SinkRecord(example["topics"], 0, 0, key, value, key_schema=key.schema, value_schema=value.schema)
    put(task, [record])
    assert task.pre_commit({PARTITION: 1}) == {PARTITION: 1}
    task.stop()
    assert context.errant_record_reporter.reported == []
    assert place.run(f"SELECT id, word FROM {table}") == [(5, "w")]  # noqa: S608


def test_inserts_add_rows_also_twice(place: Place) -> None:
    task, _ = started(place)
    put(task, [order(1, "a\t\\b\n'\"é😀"), order(2, None)])
    put(task, [order(1, "c")])
    task.stop()
    assert sorted(rows(place), key=str) == sorted([(1, "a\t\\b\n'\"é😀"), (1, "c"), (2, None)], key=str)


@pytest.mark.parametrize("mode", ["insert", "upsert", "update"])
def test_columns_are_found_as_the_database_compares_their_names(place: Place, mode: str) -> None:
    place.run(f"CREATE TABLE {TOPIC} (ID INT PRIMARY KEY, Word VARCHAR(9))")
    if mode == "update":
        place.run(f"INSERT INTO {TOPIC} VALUES (1, 'old')")  # noqa: S608
    task, _ = started(
        place,
        insert_mode=mode,
        pk_mode="record_value",
        pk_fields="Id",
        fields_whitelist="WORD",
        quote_sql_identifiers="never",
    )
    put(task, [order(1, "a")])
    task.stop()
    assert rows(place) == [(1, "a")]


KEEP = (
    "CREATE FUNCTION at.keep() RETURNS trigger LANGUAGE plpgsql AS "
    "'BEGIN INSERT INTO at.kept VALUES (NEW.id, NEW.word); RETURN NULL; END'"
)
PLAIN = "CREATE TABLE at.target (id INT, word TEXT)"
RELATIONS = {
    "a view": ("CREATE VIEW at.target AS SELECT id, word FROM at.kept",),
    "a view with a trigger": (
        "CREATE VIEW at.target AS SELECT id, lower(word) AS word FROM at.kept",
        KEEP,
        "CREATE TRIGGER keeping INSTEAD OF INSERT ON at.target FOR EACH ROW EXECUTE FUNCTION at.keep()",
    ),
    "a table with a rule": (
        PLAIN,
        "CREATE RULE keeping AS ON INSERT TO at.target DO INSTEAD "
        "INSERT INTO at.kept VALUES (NEW.id, NEW.word)",
    ),
    "a table with a trigger": (
        PLAIN,
        KEEP,
        "CREATE TRIGGER keeping BEFORE INSERT ON at.target FOR EACH ROW EXECUTE FUNCTION at.keep()",
    ),
    "a partitioned table": (
        "DROP TABLE at.kept",
        f"{PLAIN} PARTITION BY RANGE (id)",
        "CREATE TABLE at.kept PARTITION OF at.target DEFAULT",
    ),
    "a foreign table": (
        "CREATE EXTENSION IF NOT EXISTS postgres_fdw",
        "CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw "
        "OPTIONS (host '{host}', port '{port}', dbname '{dbname}')",
        "CREATE USER MAPPING FOR CURRENT_USER SERVER here OPTIONS (user '{user}', password '{password}')",
        "CREATE FOREIGN TABLE at.target (id INT, word TEXT) "
        "SERVER here OPTIONS (schema_name 'at', table_name 'kept')",
    ),
}


@pytest.fixture
def in_schema(postgres: Postgres) -> Iterator[Place]:
    """Give a database with a schema `at`, which is gone afterwards: sources read every schema."""
    place = of_postgres(postgres)
    place.run("CREATE SCHEMA at")
    yield place
    place.run("DROP SERVER IF EXISTS here CASCADE", "DROP SCHEMA at CASCADE")


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", ["at.target", "postgres.at.target"])
def test_rows_reach_whatever_takes_inserts(
    in_schema: Place, postgres: Postgres, relation: str, name: str
) -> None:
    place = in_schema
    login = dict(each.split("=") for each in postgres.conninfo.split())
    place.run(
        "CREATE TABLE at.kept (id INT, word TEXT)", *(one.format(**login) for one in RELATIONS[relation])
    )
    task, _ = started(place, table_name_format=name, table_types="TABLE,VIEW,PARTITIONED TABLE")
    put(task, [order(1, "a\\'{,"), order(2, None)])
    task.stop()
    assert place.run("SELECT id, word FROM at.kept ORDER BY id") == [(1, "a\\'{,"), (2, None)]


def test_a_name_of_three_parts_loses_none(place: Place) -> None:
    task, context = started(place, table_name_format="a.b.${topic}")
    put(task, [order(1, "w")])
    (_, error), *_ = context.errant_record_reporter.reported
    assert 'table.name.format="${topic}"' in str(error)
    quoted, _ = started(place, table_name_format=f'"x.y.{TOPIC}"')
    put(quoted, [order(1, "w")])
    quote = (
        "`"
        if "mysql" in place.config["connection.url"] or "mariadb" in place.config["connection.url"]
        else '"'
    )
    assert place.run(f"SELECT id FROM {quote}x.y.{TOPIC}{quote}") == [(1,)]  # noqa: S608
    place.run(f"DROP TABLE {quote}x.y.{TOPIC}{quote}")
    for each in (task, quoted):
        each.stop()


def test_upserts_leave_one_row_a_key_the_newest(place: Place) -> None:
    task, _ = started(place, insert_mode="upsert", pk_mode="record_value", pk_fields="id")
    put(task, [order(1, "first"), order(2, "x"), order(1, "second")])
    put(task, [order(2, "y"), order(3, None)])
    task.stop()
    assert rows(place) == [(1, "second"), (2, "y"), (3, None)]


def test_updates_change_rows_that_are_there_and_add_none(place: Place) -> None:
    place.run(f"CREATE TABLE {TOPIC} (id INT PRIMARY KEY, word TEXT)")
    place.run(f"INSERT INTO {TOPIC} VALUES (1, 'old'), (2, 'kept')")  # noqa: S608
    task, _ = started(place, insert_mode="update", pk_mode="record_value", pk_fields="id")
    put(task, [order(1, "new"), order(9, "nobody")])
    task.stop()
    assert rows(place) == [(1, "new"), (2, "kept")]


def test_records_without_a_value_delete_by_key_in_their_order(place: Place) -> None:
    keys = {"insert_mode": "upsert", "pk_mode": "record_key", "pk_fields": "code", "delete_enabled": "true"}
    task, _ = started(place, **keys)

    def coded(number: int, code: str) -> SinkRecord:
        return order(number, "w", key=code, key_schema=STRING_SCHEMA)

    put(task, [coded(1, "a"), coded(2, "b"), tombstone("a"), coded(3, "c"), tombstone("b"), coded(4, "b")])
    task.stop()
    found = place.run(f"SELECT code, id FROM {TOPIC} ORDER BY id")  # noqa: S608
    assert found == [("c", 3), ("b", 4)]


def test_a_key_of_kafka_is_where_the_record_was(place: Place) -> None:
    task, _ = started(place, insert_mode="upsert", pk_mode="kafka")
    put(task, [order(7, "a", 41), order(7, "b", 42)])
    put(task, [order(7, "b", 42)])
    task.stop()
    columns = "__connect_topic, __connect_partition, __connect_offset, id, word"
    found = place.run(f"SELECT {columns} FROM {TOPIC} ORDER BY 3")  # noqa: S608
    assert found == [(TOPIC, 0, 41, 7, "a"), (TOPIC, 0, 42, 7, "b")]


def test_columns_that_came_with_a_schema_are_added(place: Place) -> None:
    wider = (
        SchemaBuilder.struct()
        .field("id", INT32_SCHEMA)
        .field("word", OPTIONAL_STRING_SCHEMA)
        .field("count", Schema(SchemaType.INT64, default=5))
        .field("note", OPTIONAL_STRING_SCHEMA)
        .build()
    )
    task, _ = started(place, auto_evolve="true")
    put(task, [order(1, "a"), order(2, "b", schema=wider, count=6, note="n"), order(3, "c")])
    task.stop()
    found = place.run(f"SELECT id, count, note FROM {TOPIC} ORDER BY id")  # noqa: S608
    assert found == [(1, 5, None), (2, 6, "n"), (3, 5, None)]


def test_only_refused_records_are_reported_and_the_others_written(place: Place) -> None:
    place.run(f"CREATE TABLE {TOPIC} (id INT PRIMARY KEY, word VARCHAR(9) NOT NULL)")
    task, context = started(place)
    put(task, [order(number, None if number in (3, 6) else "w", number) for number in range(8)])
    put(task, [order(8, "w", 8), order(1, "again", 9), SinkRecord(TOPIC, 0, 10, None, "no struct")])
    put(task, [order(9, "half \ud83d", 11)])
    assert task.pre_commit({PARTITION: 12}) == {PARTITION: 12}
    task.stop()
    assert [number for number, _ in rows(place)] == [0, 1, 2, 4, 5, 7, 8]
    reported = context.errant_record_reporter.reported
    assert sorted(record.offset for record, _ in reported) == [3, 6, 9, 10, 11]


def test_every_type_arrives(place: Place) -> None:
    fields = {
        "a": (Schema(SchemaType.INT8), -7), "b": (INT64_SCHEMA, 2**62), "c": (FLOAT64_SCHEMA, 0.1),
        "d": (BOOLEAN_SCHEMA, True), "e": (STRING_SCHEMA, "\\N"), "f": (OPTIONAL_BYTES_SCHEMA, b"\x00\\\xff"),
        "g": (decimal_schema(2), Decimal("-12.30")), "h": (DATE_SCHEMA, date(2024, 2, 29)),
        "i": (TIME_SCHEMA, time(12, 34, 56)),
        "j": (TIMESTAMP_SCHEMA, datetime(2024, 7, 1, 10, 0, 0, 250000, UTC)),
    }  # fmt: skip
    builder = SchemaBuilder.struct()
    for name, (schema, _) in fields.items():
        builder.field(name, schema)
    schema = builder.build()
    value = Struct(schema, {name: each for name, (_, each) in fields.items()})
    task, _ = started(place, table_name_format="kinds", db_timezone="Europe/Berlin", date_timezone="UTC")
    put(task, [SinkRecord(TOPIC, 0, 0, None, value, value_schema=schema)])
    task.stop()
    ((a, b, c, d, e, f, g, h, i, j),) = place.run("SELECT * FROM kinds")
    assert (a, b, c, bool(d), e, bytes(f), float(g)) == (-7, 2**62, 0.1, True, "\\N", b"\x00\\\xff", -12.3)
    if "sqlite" in place.config["connection.url"]:
        assert (h, i, j) == (1709164800000, 45296000, 1719828000250)
    else:
        assert (h, j) == (date(2024, 2, 29), datetime(2024, 7, 1, 12, 0, 0, 250000))  # noqa: DTZ001
        assert str(i) == "12:34:56"


@pytest.mark.parametrize(
    ("table", "keys", "says"),
    [
        (None, {"auto_create": "false"}, "Table orders is missing and auto-creation is disabled"),
        ("id INT", {}, r"Table orders is missing fields \(word\) and auto-evolution is disabled"),
        ("word TEXT", {"auto_evolve": "true"}, "Cannot ALTER TABLE orders to add missing field id"),
        ("id INT, word TEXT", {"insert_mode": "upsert"}, "in UPSERT mode requires key field names"),
    ],
)
def test_a_table_that_does_not_fit_fails_the_task_and_says_what_to_do(
    pg: Place, table: str | None, keys: dict[str, str], says: str
) -> None:
    if table is not None:
        pg.run(f"CREATE TABLE {TOPIC} ({table})")
    task, context = started(pg, **keys)
    context.errant_record_reporter = None  # type: ignore[assignment]  # as without a dead letter queue
    task.start(context.configs())
    with pytest.raises(ConnectError, match=says):
        put(task, [order(1, "a")])
    assert task.pre_commit({PARTITION: 1}) == {}
    task.stop()


def test_a_view_is_written_to_only_where_that_is_allowed(pg: Place) -> None:
    pg.run("CREATE TABLE kinds (id INT, word TEXT)", "CREATE VIEW orders AS SELECT * FROM kinds")
    try:
        task, context = started(pg)
        put(task, [order(1, "a")])
        ((_, error),) = context.errant_record_reporter.reported
        assert "table.types" in str(error)
        task.stop()
    finally:
        pg.run(f"DROP VIEW {TOPIC}")


def test_columns_of_arrays_and_other_types_of_postgresql_take_texts(pg: Place) -> None:
    pg.run(f"CREATE TABLE {TOPIC} (id INT PRIMARY KEY, word JSONB, tags TEXT[], at TIMESTAMPTZ)")
    schema = (
        SchemaBuilder.struct()
        .field("id", INT32_SCHEMA)
        .field("word", OPTIONAL_STRING_SCHEMA)
        .field("tags", Schema(SchemaType.ARRAY, value=OPTIONAL_STRING_SCHEMA))
        .field("at", TIMESTAMP_SCHEMA)
        .build()
    )
    moment = datetime(2024, 7, 1, 10, tzinfo=UTC)
    for mode in ("insert", "upsert", "update"):
        task, context = started(
            pg, insert_mode=mode, pk_mode="record_value", pk_fields="id", db_timezone="Asia/Tokyo"
        )
        tags = [mode, 'a "b\\', None, ""]
        put(task, [order(1, '{"a": [1]}', schema=schema, tags=tags, at=moment)])
        task.stop()
        assert context.errant_record_reporter.reported == []
        found = pg.run(f"SELECT word, tags, at FROM {TOPIC}")  # noqa: S608
        assert found == [({"a": [1]}, tags, moment)]


def test_counted_timestamps_and_strings_get_columns_of_their_own(pg: Place) -> None:
    schema = SchemaBuilder.struct().field("id", INT32_SCHEMA).field("word", STRING_SCHEMA).build()
    task, _ = started(pg, timestamp_fields_list="word", timestamp_precision_mode="nanoseconds")
    put(task, [order(1, "1719828000123456789", schema=schema)])
    text = SinkRecord(TOPIC, 0, 0, None, "all of it", value_schema=STRING_SCHEMA)
    other, _ = started(pg, table_name_format="kinds", string_output_value_column_name="line")
    other.put(SinkBatch.of([text]))
    assert other.pre_commit({PARTITION: 1}) == {PARTITION: 1}
    task.stop()
    other.stop()
    assert rows(pg) == [(1, datetime(2024, 7, 1, 10, 0, 0, 123456))]  # noqa: DTZ001
    assert pg.run("SELECT line FROM kinds") == [("all of it",)]


def test_names_are_data_and_never_part_of_a_statement(pg: Place) -> None:
    odd = 'w"; DROP TABLE orders; -- 100%s'
    schema = SchemaBuilder.struct().field("id", INT32_SCHEMA).field(odd, OPTIONAL_STRING_SCHEMA).build()
    record = SinkRecord(TOPIC, 0, 0, None, Struct(schema, {"id": 1, odd: "x"}), value_schema=schema)
    for mode in ("insert", "upsert"):
        task, context = started(pg, insert_mode=mode, pk_mode="record_value", pk_fields="id")
        put(task, [record])
        task.stop()
        assert context.errant_record_reporter.reported == []
    assert pg.run(f"SELECT * FROM {TOPIC}") == [(1, "x")]  # noqa: S608
    assert ORDER.field("word") is not None
