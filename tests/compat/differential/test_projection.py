"""Schema projection beside Kafka Connect's SchemaProjector, and Avro payloads beside Apache Avro's library.

Confluent's AvroConverter itself cannot be had from public registries of jars, so the bytes are compared.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from copycat_avro.options import AvroOptions
from copycat_connect.data import ConnectValue, Schema, SchemaBuilder, SchemaProjectionError, Struct, project
from copycat_connect.data.java import round_to_float32
from copycat_connect.errors import DataError
from copycat_registry.avro.converter import AvroFormat
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from py4j.protocol import Py4JJavaError

from tests.compat.differential.generated import LOGICAL
from tests.compat.differential.java_values import JavaValues, chain_of, described, made
from tests.compat.differential.kafka_classes import KafkaClasses
from tests.unit.plugins.registry.connect_data import Sample, samples

pytestmark = pytest.mark.long

steady: Callable[[Any], Any] = settings(
    max_examples=400,
    derandomize=True,
    deadline=None,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
NUMBERS = ("int8", "int16", "int32", "int64", "float", "double")
PAYLOADS: dict[str, st.SearchStrategy[Any]] = {
    **{f"int{bits}": st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    "float": st.integers(-9999, 9999).map(lambda eighths: eighths / 8),
    "double": st.floats(allow_nan=False, allow_infinity=False),
    "boolean": st.booleans(),
    "string": st.text("abc", max_size=3),
    "bytes": st.sampled_from(("", "AQ==")),
}
TIMES = {"Timestamp": "int64", "Date": "int32", "Time": "int32"}
Case = tuple[dict[str, Any], Any, dict[str, Any]]


@st.composite
def _plain(draw: st.DrawFn) -> Case:
    kind = draw(st.sampled_from(sorted(PAYLOADS)))
    target = draw(st.sampled_from(NUMBERS)) if kind in NUMBERS and draw(st.booleans()) else kind
    payload = draw(PAYLOADS[kind])
    source: dict[str, Any] = {"type": kind}
    if draw(st.integers(0, 5)) == 0:
        name, physical = draw(st.sampled_from(sorted(TIMES.items())))
        source = {"type": physical, "name": f"{LOGICAL}.{name}"}
        target = "int64" if draw(st.booleans()) else physical
        payload = draw(st.integers(0, 40_000))
    return source, payload, {**source, "type": target}


@st.composite
def _container(draw: st.DrawFn, inner: st.SearchStrategy[Case]) -> Case:
    first, second = draw(inner), draw(inner)
    match draw(st.sampled_from(("array", "map", "struct", "struct"))):
        case "array":
            items = [first[1]] * draw(st.integers(0, 2))
            return {"type": "array", "items": first[0]}, items, {"type": "array", "items": first[2]}
        case "map":
            source, target = (
                {"type": "map", "keys": {"type": keys}, "values": first[part]}
                for part, keys in ((0, "int32"), (2, draw(st.sampled_from(("int32", "int64", "string")))))
            )
            return source, [[7, first[1]]][: draw(st.integers(0, 1))], target
        case _:
            return draw(_struct(first, second))


@st.composite
def _struct(draw: st.DrawFn, first: Case, second: Case) -> Case:
    given_fields = [{**first[0], "field": "a"}, {**second[0], "field": "b"}]
    wanted = [{**first[2], "field": "a"}, {**second[2], "field": draw(st.sampled_from(("b", "z")))}]
    payload: dict[str, Any] = {"a": first[1], "b": second[1]}
    if draw(st.booleans()):
        wanted.reverse()
    if draw(st.integers(0, 3)) == 0:
        wanted.append(
            {"type": "int32", "field": "n", **draw(st.sampled_from(({}, {"default": 7}, {"optional": True})))}
        )
    return (
        {"type": "struct", "fields": given_fields, "name": "S"},
        payload,
        {"type": "struct", "fields": wanted, "name": draw(st.sampled_from(("S", "S", "S", "T")))},
    )


@st.composite
def _marked(draw: st.DrawFn, inner: st.SearchStrategy[Case]) -> Case:
    """Add what makes schemas optional or different."""
    source, payload, target = draw(inner)
    if draw(st.integers(0, 3)) == 0:
        source = {**source, "optional": True}
        payload = draw(st.sampled_from((None, payload)))
    marks: list[dict[str, Any]] = [
        {},
        {},
        {},
        {"optional": True},
        {"name": "other"},
        {"version": 9, "doc": "d"},
        {"parameters": {"x": "1"}},
    ]
    target = {**target, **draw(st.sampled_from(marks))}
    if target["type"] in NUMBERS and "name" not in target and draw(st.booleans()):
        target["default"] = 5
    return source, payload, target


CASES = _marked(st.recursive(_marked(_plain()), lambda inner: _marked(_container(inner)), max_leaves=4))


def answer(schemas: tuple[Schema | None, ConnectValue, Schema | None]) -> dict[str, Any]:
    try:
        found = project(*schemas)
    except DataError as error:
        return {"error": chain_of(error, SchemaProjectorException=SchemaProjectionError)}
    return {"found": described(schemas[2], found)}


def test_values_are_projected_as_by_kafka_connects_schema_projector(java_values: JavaValues) -> None:
    outcomes = {"error": 0, "found": 0}

    @steady
    @given(CASES)
    def compare(case: Case) -> None:
        source, payload, target = case
        value = java_values.value(source, payload)
        expected = java_values.projected(value.schema, value, java_values.schema(target))
        schema, ours = made(source, payload)
        assert answer((schema, ours, made(target, None)[0])) == expected, json.dumps(case)
        outcomes[next(iter(expected))] += 1

    compare()
    assert min(outcomes.values()) > 50  # both are compared often


def test_values_of_another_schema_are_refused_where_kafka_connect_refuses_them(
    java_values: JavaValues,
) -> None:
    struct: dict[str, Any] = {"type": "struct", "fields": [{"type": "int32", "field": "a"}]}
    other: dict[str, Any] = {"type": "struct", "fields": [{"type": "int32", "field": "z"}]}
    array: dict[str, Any] = {"type": "array", "items": {"type": "int32"}}
    pairs: dict[str, Any] = {"type": "map", "keys": {"type": "int32"}, "values": {"type": "int32"}}
    numbers: list[tuple[dict[str, Any], Any]] = [
        ({"type": "double"}, each) for each in (1e300, -1e300, 300.7, -0.5)
    ]
    for kind in ("int8", "int16", "int32", "int64", "float", "double"):
        for given_kind, payload in [
            *numbers,
            ({"type": "int64"}, 2**40 + 300),
            ({"type": "int64"}, 2**62 + 2**38 + 1),
            ({"type": "boolean"}, True),
            ({"type": "string"}, "x"),
        ]:
            _compare_misfit(java_values, {"type": kind}, given_kind, payload)
    for wanted, given_kind, payload in (
        (struct, {"type": "int64"}, 1), (struct, array, [1]), (struct, other, {"z": 1}),
        (array, {"type": "string"}, "x"), (array, {"type": "bytes"}, "AQ=="), (array, pairs, [[1, 2]]),
        (pairs, array, [1]), (pairs, struct, {"a": 1}),
    ):  # fmt: skip
        _compare_misfit(java_values, wanted, given_kind, payload)


def _compare_misfit(
    java_values: JavaValues, wanted: dict[str, Any], given_kind: dict[str, Any], payload: Any
) -> None:
    schema = java_values.schema(wanted)
    expected = java_values.projected(schema, java_values.value(given_kind, payload), schema)
    ours = answer((made(wanted, None)[0], made(given_kind, payload)[1], made(wanted, None)[0]))
    if "error" in expected and expected["error"][0][0] == "ClassCastException":
        expected["error"] = [("DataException", expected["error"][0][1].partition(" (")[0])]
    if wanted == {"type": "float"} and isinstance(expected.get("found"), dict):
        # Java before 19 gives some floats one digit more than they need.
        for each in (ours, expected):
            each["found"]["payload"] = round_to_float32(float(each["found"]["payload"]))
    assert ours == expected, (wanted, given_kind, payload)


class JavaAvro:
    """Reads payloads into Java's generic records and writes those again."""

    def __init__(self, classes: KafkaClasses) -> None:
        """Prepare the factories."""
        self._jvm: Any = classes.jvm
        self._avro = self._jvm.org.apache.avro

    def written_again(self, text: str, data: bytes) -> bytes:
        """Return the payload that Java writes of what it read."""
        schema = getattr(self._avro, "Schema$Parser")().parse(text)
        decoder = self._avro.io.DecoderFactory.get().binaryDecoder(data, None)
        found = self._avro.generic.GenericDatumReader(schema).read(None, decoder)
        assert decoder.isEnd()
        out = self._jvm.java.io.ByteArrayOutputStream()
        encoder = self._avro.io.EncoderFactory.get().binaryEncoder(out, None)
        self._avro.generic.GenericDatumWriter(schema).write(found, encoder)
        encoder.flush()
        return bytes(out.toByteArray())


def test_avro_payloads_are_read_and_written_alike_by_avros_java_library(kafka_classes: KafkaClasses) -> None:
    java, avro = JavaAvro(kafka_classes), AvroFormat(AvroOptions.parse({}))

    @settings(
        max_examples=300,
        derandomize=True,
        deadline=None,
        database=None,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )
    @given(samples())
    def compare(sample: Sample) -> None:
        # In a record, since a number alone would lose its Java class on its way through Python.
        outer = SchemaBuilder.struct().name("Outer").field("v", sample.schema).build()
        value = Struct.of_valid(outer, [sample.value])
        text = avro.describe(outer).text
        data = avro.encoder(outer, None)(value)
        again = java.written_again(text.text, data)
        assert len(again) == len(data), sample  # Java's maps have another order
        assert avro.decoder(text, None, None)[1](again) == value

    try:
        compare()
    except Py4JJavaError as error:
        raise AssertionError(str(error.java_exception)) from error
