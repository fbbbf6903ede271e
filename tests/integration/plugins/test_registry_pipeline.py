"""Records through a whole system in the formats of a schema registry: a file to a topic, that to a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from confluent_kafka import Message
from confluent_kafka.admin import AdminClient
from copycat_connect.data import SchemaType, Struct
from copycat_connect.plugin import Converter, PluginKind, load_plugins
from copycat_testkit.kafka import consume_all, unique, wait_until
from copycat_testkit.schema_registry import SchemaRegistry
from copycat_testkit.system import CopycatUp

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

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


def test_a_wrong_setting_is_found_before_a_connector_starts(rest: httpx2.Client, tmp_path: Path) -> None:
    config = {**source(tmp_path / "x", "x"), "value.converter": "AvroConverter", "name": "wrong"}
    answer = rest.put("/connector-plugins/FileStreamSource/config/validate", json=config).json()
    errors = {each["value"]["name"]: each["value"]["errors"] for each in answer["configs"]}
    assert "schema.registry.url" in errors["value.converter.schema.registry.url"][0]


@pytest.mark.parametrize("class_name", CONVERTERS.values())
def test_the_listing_and_the_keys_of_a_converter_are_shown(rest: httpx2.Client, class_name: str) -> None:
    listed = rest.get("/connector-plugins", params={"connectorsOnly": "false"}).json()
    assert class_name in {each["class"] for each in listed if each["type"] == "converter"}
    keys = {each["name"] for each in rest.get(f"/connector-plugins/{class_name}/config").json()}
    assert {"schema.registry.url", "auto.register.schemas", "basic.auth.user.info"} <= keys


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
