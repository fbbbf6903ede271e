"""Converters on a real schema registry: what they register and find, and records through a whole system."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import httpx2
import pytest
from confluent_kafka import Message
from confluent_kafka.admin import AdminClient
from copycat_connect.data import (
    DATE_SCHEMA,
    INT8_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    STRING_SCHEMA,
    Schema,
    SchemaBuilder,
    SchemaType,
    Struct,
    decimal_schema,
)
from copycat_connect.errors import DataError
from copycat_connect.plugin import Converter, PluginKind, load_plugins
from copycat_testkit.kafka import consume_all, unique, wait_until
from copycat_testkit.schema_registry import SchemaRegistry
from copycat_testkit.system import CopycatUp
from fastavro import parse_schema, schemaless_reader

pytestmark = pytest.mark.long

PLUGINS = load_plugins()
ORDER = (
    SchemaBuilder.struct().name("shop.Order").field("id", INT64_SCHEMA).field("item", STRING_SCHEMA).build()
)
WIDER = (
    SchemaBuilder.struct()
    .name("shop.Order")
    .field("id", INT64_SCHEMA)
    .field("item", STRING_SCHEMA)
    .field("count", OPTIONAL_INT32_SCHEMA)
    .build()
)
NARROWER = SchemaBuilder.struct().name("shop.Order").field("id", STRING_SCHEMA).build()
CHOSEN = {"auto.register.schemas": "false"}


@pytest.fixture
def registry(schema_registry: str) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=schema_registry) as client:
        yield client


def converter(
    url: str, name: str = "Avro", config: Mapping[str, str] | None = None, *, is_key: bool = False
) -> Converter:
    made: Converter = PLUGINS.find(name, (PluginKind.CONVERTER,)).make()
    made.configure({"schema.registry.url": url, **(config or {})}, is_key=is_key)
    return made


def order(schema: Schema = ORDER, **fields: object) -> Struct:
    return Struct(schema, {"id": 7, "item": "nail", **fields})


def test_a_written_record_carries_the_id_of_its_registered_schema(
    schema_registry: str, registry: httpx2.Client
) -> None:
    topic = unique("orders")
    written = converter(schema_registry).from_connect(topic, None, ORDER, order())
    answer = registry.get(f"/subjects/{topic}-value/versions/latest").json()
    assert written is not None
    assert written == b"\0" + answer["id"].to_bytes(4, "big") + b"\x0e\x08nail"
    plan = parse_schema(json.loads(answer["schema"]))
    assert schemaless_reader(io.BytesIO(written[5:]), plan, None) == {"id": 7, "item": "nail"}


@pytest.mark.parametrize("name", ["Avro", "JsonSchema"])
def test_what_one_converter_wrote_another_reads_with_the_version_of_its_subject(
    schema_registry: str, name: str
) -> None:
    topic = unique("orders")
    writer, reader = converter(schema_registry, name), converter(schema_registry, name)
    first = writer.from_connect(topic, None, ORDER, order())
    second = writer.from_connect(topic, None, WIDER, order(WIDER, count=2))
    assert [reader.to_connect(topic, None, data).schema for data in (first, second)] == [
        replace(ORDER, version=1), replace(WIDER, version=2)
    ]  # fmt: skip
    assert str(reader.to_connect(topic, None, second).value) == "Struct{id=7,item=nail,count=2}"


def test_batches_are_what_records_are_one_by_one(schema_registry: str) -> None:
    topic = unique("orders")
    made = converter(schema_registry)
    orders = [order(id=number) for number in range(5)]
    written = made.from_connect_batch(topic, ORDER, orders)
    assert written == [made.from_connect(topic, None, ORDER, each) for each in orders]
    schema, values = made.to_connect_batch(topic, written) or (None, [])
    assert (schema, [value["id"] for value in values]) == (replace(ORDER, version=1), [0, 1, 2, 3, 4])
    mixed = [*written, made.from_connect(topic, None, WIDER, order(WIDER))]
    assert made.to_connect_batch(topic, mixed) is None


def test_keys_have_a_subject_of_their_own_and_may_be_plain(
    schema_registry: str, registry: httpx2.Client
) -> None:
    topic = unique("orders")
    keys = converter(schema_registry, is_key=True)
    written = keys.from_connect(topic, None, STRING_SCHEMA, "k1")
    assert keys.to_connect(topic, None, written) == (Schema(SchemaType.STRING, version=1), "k1")
    assert registry.get(f"/subjects/{topic}-key/versions/1").json()["schema"] == '"string"'


def test_a_schema_its_subject_is_not_compatible_with_is_refused_with_the_registrys_words(
    schema_registry: str, registry: httpx2.Client
) -> None:
    topic = unique("orders")
    made = converter(schema_registry)
    made.from_connect(topic, None, ORDER, order())
    registry.put(f"/config/{topic}-value", json={"compatibility": "BACKWARD"}).raise_for_status()
    with pytest.raises(DataError) as caught:
        made.from_connect(topic, None, NARROWER, Struct(NARROWER, {"id": "7"}))
    for part in (topic, f"{topic}-value", "409", "ncompatible", "compatibility level"):
        assert part in caught.value.message


def test_without_registering_an_unknown_schema_is_refused_and_a_known_one_found(schema_registry: str) -> None:
    topic = unique("orders")
    finder = converter(schema_registry, config=CHOSEN)
    with pytest.raises(DataError, match=rf"Cannot find the schema of subject {topic}-value .*auto\.register"):
        finder.from_connect(topic, None, ORDER, order())
    written = converter(schema_registry).from_connect(topic, None, ORDER, order())
    assert finder.from_connect(topic, None, ORDER, order()) == written


def test_the_latest_version_is_written_with_and_read_as(schema_registry: str) -> None:
    topic = unique("orders")
    auto = converter(schema_registry)
    old = auto.from_connect(topic, None, ORDER, order())
    auto.from_connect(topic, None, WIDER, order(WIDER))
    latest = converter(schema_registry, config={**CHOSEN, "use.latest.version": "true"})
    written = latest.from_connect(topic, None, ORDER, order())
    assert auto.to_connect(topic, None, written).schema == replace(WIDER, version=2)
    assert str(latest.to_connect(topic, None, old).value) == "Struct{id=7,item=nail}"
    assert latest.to_connect(topic, None, old).schema == replace(WIDER, version=2)
    with pytest.raises(DataError, match=r"which could not read what their own schema writes.*strict=false"):
        latest.from_connect(topic, None, NARROWER, Struct(NARROWER, {"id": "7"}))


def test_a_chosen_id_is_written_with(schema_registry: str) -> None:
    topic = unique("orders")
    written = converter(schema_registry).from_connect(topic, None, ORDER, order())
    assert written is not None
    number = int.from_bytes(written[1:5], "big")
    chosen = converter(schema_registry, config={**CHOSEN, "use.schema.id": str(number)})
    assert chosen.from_connect(unique("other"), None, ORDER, order()) == written


def test_an_id_the_registry_does_not_know_names_topic_id_and_setting(schema_registry: str) -> None:
    with pytest.raises(DataError, match=r"Cannot find schema 999999 for topic orders.*schema\.registry\.url"):
        converter(schema_registry).to_connect("orders", None, b"\0" + (999999).to_bytes(4, "big") + b"x")


def test_subjects_are_named_by_record_where_that_is_wanted(
    schema_registry: str, registry: httpx2.Client
) -> None:
    name = f"shop.R{unique('r').replace('-', '')}"
    schema = SchemaBuilder.struct().name(name).field("a", INT32_SCHEMA).build()
    made = converter(schema_registry, config={"value.subject.name.strategy": "RecordNameStrategy"})
    written = made.from_connect("t", None, schema, Struct(schema, {"a": 1}))
    assert registry.get(f"/subjects/{name}/versions").json() == [1]
    assert made.to_connect("t", None, written).schema == replace(schema, version=1)


def test_a_schema_of_another_format_is_told_apart(schema_registry: str) -> None:
    topic = unique("orders")
    written = converter(schema_registry, "JsonSchema").from_connect(topic, None, ORDER, order())
    with pytest.raises(DataError, match=rf"topic {topic} is of format JSON, this converter reads AVRO"):
        converter(schema_registry).to_connect(topic, None, written)


def test_protobuf_is_read_back_by_the_message_it_names(schema_registry: str, registry: httpx2.Client) -> None:
    topic = unique("orders")
    schema = (
        SchemaBuilder.struct().name("shop.Price").field("amount", decimal_schema(2)).field("day", DATE_SCHEMA)
        .field("level", INT8_SCHEMA).build()
    )  # fmt: skip
    made = converter(schema_registry, "Protobuf")
    value = Struct(schema, {"amount": Decimal("1.25"), "day": date(2024, 2, 29), "level": -3})
    written = made.from_connect(topic, None, schema, value)
    assert written is not None
    assert written[5:6] == b"\0"
    read_schema, read_value = made.to_connect(topic, None, written)
    assert read_schema is not None
    assert (read_schema.name, read_schema.version) == ("Price", 1)
    assert read_value.values == value.values
    registered = registry.get(f"/subjects/{topic}-value/versions/1").json()
    assert registered["schemaType"] == "PROTOBUF"
    assert 'import "confluent/type/decimal.proto";' in registered["schema"]


def test_a_protobuf_schema_may_refer_to_others_in_the_registry(
    schema_registry: str, registry: httpx2.Client
) -> None:
    topic = unique("orders")
    base = {
        "schemaType": "PROTOBUF",
        "schema": 'syntax = "proto3";\npackage b;\nmessage B { int32 x = 1; }\n',
    }
    registry.post(f"/subjects/{topic}-b/versions", json=base).raise_for_status()
    root = {
        "schemaType": "PROTOBUF",
        "schema": 'syntax = "proto3";\nimport "b.proto";\nmessage Other {}\nmessage A { b.B b = 1; }\n',
        "references": [{"name": "b.proto", "subject": f"{topic}-b", "version": 1}],
    }
    answer = registry.post(f"/subjects/{topic}-value/versions", json=root).json()
    data = b"\0" + answer["id"].to_bytes(4, "big") + b"\x02\x02" + b"\x0a\x02\x08\x07"
    _, value = converter(schema_registry, "Protobuf").to_connect(topic, None, data)
    assert str(value) == "Struct{b=Struct{x=7}}"


LINES = [f"line {number}" for number in range(50)]
CONVERTERS = {
    "Avro": "io.confluent.connect.avro.AvroConverter",
    "JsonSchema": "io.confluent.connect.json.JsonSchemaConverter",
    "Protobuf": "io.confluent.connect.protobuf.ProtobufConverter",
}


@pytest.fixture(scope="module")
def rest(system: CopycatUp) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=system.url, timeout=90) as client:
        yield client


def sides(registry: str, class_name: str) -> dict[str, str]:
    return {
        f"{side}.converter{key}": value
        for side in ("key", "value")
        for key, value in (("", class_name), (".schema.registry.url", registry))
    }


def source(file: Path, topic: str) -> dict[str, str]:
    """Lines as structs with a name, a struct as key, and a header."""
    steps = {
        "hoist": {"type": "org.apache.kafka.connect.transforms.HoistField$Value", "field": "text"},
        "name": {
            "type": "org.apache.kafka.connect.transforms.SetSchemaMetadata$Value",
            "schema.name": "shop.Line",
        },
        "key": {"type": "org.apache.kafka.connect.transforms.ValueToKey", "fields": "text"},
        "mark": {
            "type": "org.apache.kafka.connect.transforms.InsertHeader",
            "header": "from",
            "value.literal": "file",
        },
    }
    return {
        "connector.class": "FileStreamSource",
        "file": str(file),
        "topic": topic,
        "transforms": ",".join(steps),
        **{f"transforms.{name}.{key}": value for name, step in steps.items() for key, value in step.items()},
    }


def reader(registry: str, name: str, *, is_key: bool = False) -> Converter:
    made: Converter = load_plugins().find(name, (PluginKind.CONVERTER,)).make()
    made.configure({"schema.registry.url": registry}, is_key=is_key)
    return made


@pytest.mark.timeout(300)
@pytest.mark.row("K26-13")
@pytest.mark.parametrize("name", CONVERTERS)
def test_lines_travel_as_structs_with_keys_and_headers(
    rest: httpx2.Client, kafka: str, schema_registry: str, tmp_path: Path, name: str
) -> None:
    topic = unique(name.lower())
    lines, copy = tmp_path / "lines.txt", tmp_path / "copy.txt"
    lines.write_text("".join(f"{line}\n" for line in LINES))
    both = sides(schema_registry, CONVERTERS[name])
    rest.put(f"/connectors/{topic}-in/config", json={**source(lines, topic), **both}).raise_for_status()
    sink = {"connector.class": "FileStreamSink", "topics": topic, "file": str(copy), **both}
    rest.put(f"/connectors/{topic}-out/config", json=sink).raise_for_status()
    expected = "".join(f"Struct{{text={line}}}\n" for line in LINES)
    wait_until(lambda: copy.exists() and copy.read_text() == expected, 120, "every line in the copy")
    for suffix in ("in", "out"):
        rest.delete(f"/connectors/{topic}-{suffix}").raise_for_status()

    message = consume_all(kafka, topic)[0]
    assert message.headers() == [("from", b"file")]
    for is_key, data in ((True, message.key()), (False, message.value())):
        schema, value = reader(schema_registry, name, is_key=is_key).to_connect(topic, None, data)
        assert isinstance(value, Struct)
        assert schema is not None
        assert (schema.type, schema.version, value["text"]) == (SchemaType.STRUCT, 1, LINES[0])
    assert schema is not None
    assert schema.name == (
        "Line" if name == "Protobuf" else "shop.Line"
    )  # that keeps packages where asked to


@pytest.mark.timeout(300)
def test_a_wrong_setting_is_found_before_a_connector_starts(rest: httpx2.Client, tmp_path: Path) -> None:
    config = {**source(tmp_path / "x", "x"), "value.converter": "AvroConverter", "name": "wrong"}
    answer = rest.put("/connector-plugins/FileStreamSource/config/validate", json=config).json()
    errors = {each["value"]["name"]: each["value"]["errors"] for each in answer["configs"]}
    assert "schema.registry.url" in errors["value.converter.schema.registry.url"][0]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("class_name", CONVERTERS.values())
def test_the_listing_and_the_keys_of_a_converter_are_shown(rest: httpx2.Client, class_name: str) -> None:
    listed = rest.get("/connector-plugins", params={"connectorsOnly": "false"}).json()
    assert class_name in {each["class"] for each in listed if each["type"] == "converter"}
    keys = {each["name"] for each in rest.get(f"/connector-plugins/{class_name}/config").json()}
    assert {"schema.registry.url", "auto.register.schemas", "basic.auth.user.info"} <= keys


@pytest.mark.timeout(300)
def test_a_registry_that_is_away_is_asked_again_then_fails_the_task_that_a_restart_heals(
    rest: httpx2.Client, kafka: str, tmp_path: Path
) -> None:
    topic, lines = unique("outage"), tmp_path / "lines.txt"
    lines.write_text("one\n")
    registry = SchemaRegistry(tmp_path / "registry")
    hidden = registry.url.replace("://", "://reader:hidden-word@")
    away = {
        **source(lines, topic),
        **sides(hidden, CONVERTERS["Avro"]),
        **{f"{side}.converter.max.retries": "0" for side in ("key", "value")},
    }
    patient = {**away, "errors.retry.timeout": "-1", "errors.retry.delay.max.ms": "500"}
    rest.put(f"/connectors/{topic}-patient/config", json=patient).raise_for_status()
    # Restarted by hand alone: else it may write in the same moment as the patient one.
    hasty = {**away, "errors.retry.timeout": "1000", "errors.restart": "off"}
    rest.put(f"/connectors/{topic}-hasty/config", json=hasty).raise_for_status()

    trace = wait_until(lambda: failed(rest, f"{topic}-hasty"), 120, "the hasty one failed")
    assert "Tolerance exceeded in error handler" in trace
    assert f"for topic {topic}: no registry answers at {registry.url}" in trace
    assert "Check schema.registry.url, and that the registry runs" in trace
    assert "hidden-word" not in trace
    assert failed(rest, f"{topic}-patient") is None

    with registry:
        wait_until(lambda: len(written(kafka, topic)) == 1, 120, "the record of the patient one")
        rest.post(f"/connectors/{topic}-hasty/restart?includeTasks=true&onlyFailed=true").raise_for_status()
        wait_until(lambda: len(written(kafka, topic)) == 2, 120, "the record of the hasty one")
        for name in ("patient", "hasty"):
            assert failed(rest, f"{topic}-{name}") is None
            rest.delete(f"/connectors/{topic}-{name}").raise_for_status()


def failed(rest: httpx2.Client, name: str) -> str | None:
    """Return the trace of a connector's task that failed."""
    answer = rest.get(f"/connectors/{name}/status")
    tasks = answer.json()["tasks"] if answer.status_code == 200 else []
    return next((task["trace"] for task in tasks if task["state"] == "FAILED"), None)


def written(kafka: str, topic: str) -> list[Message]:
    """Return a topic's records; none while there is no such topic."""
    there = AdminClient({"bootstrap.servers": kafka}).list_topics(timeout=20).topics
    return consume_all(kafka, topic) if topic in there else []
