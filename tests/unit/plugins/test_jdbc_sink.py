"""The JDBC sink's rules: columns of records, statements of each database, texts, and what goes together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import pytest
from copycat_connect.data import (
    BOOLEAN_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectValue,
    Schema,
    SchemaBuilder,
    SchemaType,
    SinkBatch,
    SinkRecord,
    Struct,
    decimal_schema,
)
from copycat_connect.errors import DataError
from copycat_jdbc.sink.connector import JdbcSinkConnector
from copycat_jdbc.sink.layout import ColumnLayout, layout_of
from copycat_jdbc.sink.runs import RecordRuns, Run, WrongRun
from copycat_jdbc.sink.settings import JdbcSinkSettings
from copycat_jdbc.sink.statements import WriteStatements

VALUE = (
    SchemaBuilder.struct()
    .field("id", INT64_SCHEMA)
    .field("name", OPTIONAL_STRING_SCHEMA)
    .field("size", INT32_SCHEMA)
    .build()
)
KEY = SchemaBuilder.struct().field("zone", STRING_SCHEMA).field("code", INT32_SCHEMA).build()
DIALECTS = ("postgresql", "mariadb", "mysql", "sqlite")


def settings(**keys: str) -> JdbcSinkSettings:
    config = {"name": "sink", "connection.url": "jdbc:sqlite:x"}
    return JdbcSinkSettings.parse({**config, **{key.replace("_", "."): value for key, value in keys.items()}})


def layout(
    key: Schema | None, value: Schema | None, keys: Mapping[str, str] = MappingProxyType({})
) -> ColumnLayout:
    return layout_of(settings(**keys), "orders", key, value)


def record(
    number: int, value: Schema = VALUE, topic: str = "orders", *, without_value: bool = False
) -> SinkRecord:
    fields: dict[str, ConnectValue] = {"id": number, "size": number}
    struct = None if without_value else Struct(value, fields)
    return SinkRecord(topic, 0, number, f"k{number}", struct, STRING_SCHEMA, None if without_value else value)


@pytest.mark.parametrize(
    ("keys", "names", "key_names"),
    [
        ({}, ["id", "name", "size"], []),
        ({"fields_whitelist": "size"}, ["size"], []),
        (
            {"pk_mode": "kafka"},
            ["__connect_topic", "__connect_partition", "__connect_offset", "id", "name", "size"],
            ["__connect_topic", "__connect_partition", "__connect_offset"],
        ),
        (
            {"pk_mode": "kafka", "pk_fields": "t,p,o", "fields_whitelist": "id"},
            ["t", "p", "o", "id"],
            ["t", "p", "o"],
        ),
        ({"pk_mode": "record_value", "pk_fields": "size"}, ["id", "name", "size"], ["size"]),
        ({"pk_mode": "record_value"}, ["id", "name", "size"], ["id", "name", "size"]),
        (
            {"pk_mode": "record_value", "pk_fields": "id", "fields_whitelist": "name"},
            ["id", "name"],
            ["id"],
        ),
        ({"pk_mode": "record_key"}, ["id", "name", "size", "code", "zone"], ["code", "zone"]),
        ({"pk_mode": "record_key", "pk_fields": "code"}, ["id", "name", "size", "code"], ["code"]),
    ],
)
def test_columns_follow_the_modes_of_keys(
    keys: dict[str, str], names: list[str], key_names: list[str]
) -> None:
    found = layout(KEY, VALUE, keys)
    assert found.names == names
    assert [each.name for each in found.keys] == key_names


@pytest.mark.parametrize(
    ("keys", "wrong"),
    [
        ({"topics": "orders,clicks"}, None),
        ({"topics": "a.b"}, None),
        ({"topics": "d.s.t"}, None),  # the database itself, a schema, and a table
        ({"topics": "orders,a.b.c"}, "table.name.format"),
        ({"topics": "a.b.c", "transforms": "route"}, None),
        ({"topics": "a.b.c", "table.name.format": '"${topic}"'}, None),
        ({"topics.regex": ".*", "table.name.format": "a.b.${topic}"}, "table.name.format"),
        ({"topics": "t", "table.name.format": "."}, "table.name.format"),
        ({"topics": "t", "exactly.once.table": "a.b.c"}, "exactly.once.table"),
    ],
)
def test_names_of_tables_are_tried_before_the_first_record(keys: dict[str, str], wrong: str | None) -> None:
    config = {"connection.url": "jdbc:postgresql://h/d", **keys}
    found = {each.name: each.errors for each in JdbcSinkConnector().validate(config) if each.errors}
    assert [*found] == ([] if wrong is None else [wrong])
    assert all("quotes" in text or "empty" in text for texts in found.values() for text in texts)


POSTGRESQL = {"connection_url": "jdbc:postgresql://h/d"}


@pytest.mark.parametrize(
    "place",
    [
        {"connection_url": "jdbc:mariadb://h/d"},
        {"connection_url": "jdbc:sqlite:x"},
        {**POSTGRESQL, "quote_sql_identifiers": "never"},
    ],
)
def test_keys_name_columns_as_the_database_compares_them(place: dict[str, str]) -> None:
    named = {"pk_mode": "record_value", "pk_fields": "ID", "fields_whitelist": "Size,NAME"}
    found = layout(None, VALUE, {**place, **named})
    assert [(each.name, each.is_key) for each in found.columns] == [
        ("id", True),
        ("name", False),
        ("size", False),
    ]
    upper = SchemaBuilder.struct().field("ID", STRING_SCHEMA).build()
    of_key = layout(upper, VALUE, {**place, "pk_mode": "record_key"})
    assert of_key.names == ["ID", "name", "size"]
    times = layout(None, VALUE, {**place, "timestamp_fields_list": "Id"})
    assert times.columns[0].schema.name == TIMESTAMP_SCHEMA.name
    twins = SchemaBuilder.struct().field("Id", INT64_SCHEMA).field("iD", INT64_SCHEMA).build()
    with pytest.raises(DataError, match="Fields Id and iD are one column"):
        layout(None, twins, place)


def test_quoted_names_of_postgresql_have_their_case() -> None:
    twins = SchemaBuilder.struct().field("Id", INT64_SCHEMA).field("iD", INT64_SCHEMA).build()
    assert layout(None, twins, {**POSTGRESQL, "fields_whitelist": "iD"}).names == ["iD"]
    with pytest.raises(DataError, match="does not contain field: ID"):
        layout(None, VALUE, {**POSTGRESQL, "pk_mode": "record_value", "pk_fields": "ID"})


def test_a_field_of_key_and_value_comes_from_the_key() -> None:
    key = SchemaBuilder.struct().field("id", STRING_SCHEMA).build()
    found = layout(key, VALUE, {"pk_mode": "record_key"})
    assert (found.columns[0].name, found.columns[0].schema.type) == ("id", SchemaType.STRING)


@pytest.mark.parametrize(
    ("key", "value", "keys", "says"),
    [
        (
            STRING_SCHEMA,
            VALUE,
            {"pk_mode": "record_key"},
            "Need exactly one PK column defined since the key schema",
        ),
        (
            KEY,
            VALUE,
            {"pk_mode": "record_key", "pk_fields": "x"},
            "record key schema does not contain field: x",
        ),
        (None, VALUE, {"pk_mode": "record_key"}, "record_key, but record key schema is missing"),
        (
            None,
            VALUE,
            {"pk_mode": "record_value", "pk_fields": "x"},
            "value schema does not contain field: x",
        ),
        (
            None,
            VALUE,
            {"fields_whitelist": "x"},
            "No fields found using key and value schemas for table: orders",
        ),
    ],
)
def test_schemas_that_do_not_go_with_the_configuration_say_so(
    key: Schema | None, value: Schema, keys: dict[str, str], says: str
) -> None:
    with pytest.raises(DataError, match=says):
        layout(key, value, keys)


def test_neighbours_with_one_table_and_schema_go_together() -> None:
    wider = SchemaBuilder.struct().field("id", INT64_SCHEMA).field("size", INT32_SCHEMA).build()
    records = [record(0), record(1), record(2, wider), record(3, wider), record(4, topic="others"), record(5)]
    found = [*RecordRuns(settings()).of(SinkBatch.of(records))]
    assert [(each.start, each.stop) for each in found] == [(0, 2), (2, 4), (4, 5), (5, 6)]
    assert [each.table for each in found if isinstance(each, Run)] == ["orders", "orders", "others", "orders"]


def test_a_record_without_a_value_deletes_where_that_is_enabled_and_else_is_wrong() -> None:
    batch = SinkBatch.of([record(1), record(2, without_value=True)])
    keys = {"pk_mode": "record_key", "pk_fields": "code"}
    _, deletes = RecordRuns(settings(delete_enabled="true", **keys)).of(batch)
    assert isinstance(deletes, Run)
    assert deletes.deletes
    assert deletes.columns() == [["k2"]]
    _, wrong = RecordRuns(settings(**keys)).of(batch)
    assert isinstance(wrong, WrongRun)
    assert wrong.error.message == (
        "Sink connector 'sink' is configured with 'delete.enabled=false' and 'pk.mode=record_key' and "
        "therefore requires records with a non-null Struct value and non-null Struct value schema, but found "
        "record at (topic='orders',partition=0,offset=2,timestamp=None) with a null value and null value "
        "schema."
    )


@pytest.mark.parametrize(("replaces", "found"), [("true", ["x", "d"]), ("false", ["x", None])])
def test_null_becomes_the_default_where_that_is_wanted(replaces: str, found: list[object]) -> None:
    schema = SchemaBuilder.struct().field("a", replace(OPTIONAL_STRING_SCHEMA, default="d")).build()
    records = [
        SinkRecord("t", 0, 0, None, Struct.of_valid(schema, [text]), value_schema=schema)
        for text in ("x", None)
    ]
    (run,) = RecordRuns(settings(replace_null_with_default=replaces)).of(SinkBatch.of(records))
    assert isinstance(run, Run)
    assert [[*each] for each in run.columns()] == [found]


def test_tables_are_written_in_the_words_of_each_database() -> None:
    schema = (
        SchemaBuilder.struct()
        .field("code", STRING_SCHEMA)
        .field("ok", replace(BOOLEAN_SCHEMA, default=True))
        .field("word", replace(STRING_SCHEMA, default="it's"))
        .field("price", replace(decimal_schema(2), optional=True))
        .field("at", TIMESTAMP_SCHEMA)
        .build()
    )
    columns = [
        (each.name, each)
        for each in layout(None, schema, {"pk_mode": "record_value", "pk_fields": "code"}).columns
    ]
    made = {dialect: WriteStatements(dialect).create("t", columns).replace("\n", "") for dialect in DIALECTS}
    assert made["postgresql"] == (
        "CREATE TABLE t (code TEXT NOT NULL,ok BOOLEAN DEFAULT TRUE,word TEXT DEFAULT 'it''s',"
        "price DECIMAL NULL,at TIMESTAMP NOT NULL,PRIMARY KEY(code))"
    )
    assert (
        made["mariadb"]
        == made["mysql"]
        == (
            "CREATE TABLE t (code VARCHAR(255) NOT NULL,ok TINYINT DEFAULT 1,word TEXT DEFAULT ('it''s'),"
            "price DECIMAL(65,2) NULL,at DATETIME(3) NOT NULL,PRIMARY KEY(code))"
        )
    )
    assert made["sqlite"] == (
        "CREATE TABLE t (code TEXT NOT NULL,ok INTEGER DEFAULT 1,word TEXT DEFAULT 'it''s',"
        "price NUMERIC NULL,at NUMERIC NOT NULL,PRIMARY KEY(code))"
    )
    assert WriteStatements("sqlite").add("t", columns[3:]) == [
        "ALTER TABLE t ADD price NUMERIC NULL",
        "ALTER TABLE t ADD at NUMERIC NOT NULL",
    ]
    assert WriteStatements("postgresql").add("t", columns[3:]) == [
        "ALTER TABLE t ADD price DECIMAL NULL,ADD at TIMESTAMP NOT NULL"
    ]


def test_rows_are_written_in_the_words_of_each_database() -> None:
    upserts = {dialect: WriteStatements(dialect).upsert("t", ["k"], ["v", "w"]) for dialect in DIALECTS}
    assert upserts["postgresql"] == (
        "INSERT INTO t (k,v,w) VALUES (%s,%s,%s) ON CONFLICT (k) DO UPDATE SET v=EXCLUDED.v,w=EXCLUDED.w"
    )
    assert upserts["sqlite"] == upserts["postgresql"].replace("%s", "?")
    assert (
        upserts["mysql"]
        == upserts["mariadb"]
        == ("INSERT INTO t (k,v,w) VALUES (%s,%s,%s) ON DUPLICATE KEY UPDATE v=VALUES(v),w=VALUES(w)")
    )
    assert WriteStatements("postgresql").on_conflict(["k", "l"], []) == "ON CONFLICT (k,l) DO NOTHING"
    assert WriteStatements("mariadb").on_conflict(["k"], []) == "ON DUPLICATE KEY UPDATE k=VALUES(k)"
    assert WriteStatements("mysql").update("t", ["k"], ["v"]) == "UPDATE t SET v=%s WHERE k=%s"
    assert WriteStatements("sqlite").delete("t", ["k", "l"], 2) == (
        "DELETE FROM t WHERE (k=? AND l=?) OR (k=? AND l=?)"
    )


def test_a_type_without_a_column_names_the_field_and_what_to_do() -> None:
    schema = SchemaBuilder.struct().field("inner", VALUE).build()
    columns = [(each.name, each) for each in layout(None, schema).columns]
    with pytest.raises(DataError, match=r"STRUCT.*field inner; leave it out \(fields.whitelist\)"):
        WriteStatements("postgresql").create("t", columns)


@pytest.mark.parametrize(
    ("changes", "key", "says"),
    [
        ({"delete.enabled": "true"}, "delete.enabled", "Primary key mode must be 'record_key'"),
        ({"insert.mode": "upsert"}, "insert.mode", "needs a key: set pk.mode"),
        ({"pk.mode": "kafka", "pk.fields": "a,b"}, "pk.fields", "name three columns"),
        (
            {"connection.url": "postgres://u:secret-1@h/d"},
            "connection.url",
            "expected one of jdbc:postgresql",
        ),
        ({"db.timezone": "Mars/Base"}, "db.timezone", "Invalid time zone identifier"),
        ({"table.types": "TABLE,SYNONYM"}, "table.types", "SYNONYM"),
        ({"insert.mode": "merge"}, "insert.mode", "merge"),
    ],
)
def test_wrong_keys_are_found_before_a_task_runs(changes: dict[str, str], key: str, says: str) -> None:
    config: dict[str, str | None] = {"connection.url": "jdbc:sqlite:x", **changes}
    errors = {each.name: " ".join(each.errors) for each in JdbcSinkConnector().validate(config)}
    assert says in errors[key]
    assert "secret-1" not in "".join(errors.values())


@pytest.mark.parametrize(
    ("url", "supported"),
    [
        ("jdbc:postgresql://h/d", "SUPPORTED"),
        ("jdbc:mysql://h/d", "SUPPORTED"),
        ("jdbc:sqlite:x", "UNSUPPORTED"),
    ],
)
def test_exactly_once_needs_a_server(url: str, supported: str) -> None:
    assert JdbcSinkConnector().exactly_once_support({"connection.url": url}).name == supported
