"""What Kafka Connect makes of the text of headers, and which text it makes of values."""

from __future__ import annotations

from datetime import date, time
from decimal import Decimal
from typing import Any

import pytest
from copycat_connect.data import ConnectValue, FarDate, FarTimestamp, Schema, SchemaType
from copycat_connect.data.java import class_name, float_text, to_text, to_text_under
from copycat_connect.data.logical import scale_of, unscaled
from copycat_connect.data.narrow import narrowed
from copycat_connect.errors import DataError
from copycat_connect.values.parsing import parse_value
from copycat_connect.values.text import date_millis, value_to_text
from copycat_testkit.gathered import gathered
from hypothesis import strategies as st

from tests.compat.differential.converter_cases import WITHOUT_IDENTITIES, envelope
from tests.compat.differential.oracle import Oracle, differing
from tests.compat.differential.our_values import made

pytestmark = pytest.mark.long

CASES = 600
NUMBERS = ("int8", "int16", "int32", "int64", "float32", "float64", "bytes")
_numbers = st.one_of(
    st.sampled_from((
        "0", "1", "-1", "127", "128", "-128", "-129", "32767", "32768", "2147483647", "2147483648",
        "9223372036854775807", "9223372036854775808", "1.5", "2.5", "1.1", "0.1", "3.3", "1e10", "1e-5",
        "3.4e38", "3.5e38", "1e308", "1e400", "1.0", "-0.0", "16777217", "16777217.0", "1.100000023841858",
    )),
    st.integers(-(2**70), 2**70).map(str),
    st.integers(-40000, 40000).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(repr),
)  # fmt: skip
_texts = st.sampled_from(("true", "false", "null", '"x"', '"1"', "2024-02-29", "10:11:12.123Z"))
#: No booleans among numbers: in Python 0 and False are one key.
_keys = _numbers | st.sampled_from(('"x"', '"1"', "2024-02-29", "10:11:12.123Z"))
_elements = st.one_of(_numbers, _numbers, _numbers, _texts)
#: Without 64 bits: where the schema of a list is not what its lists say, Python cannot see the difference.
_narrow = st.sampled_from(
    ("0", "-7", "127", "128", "-129", "32767", "32768", "2147483647", "1.5", "-2.5", "0.1")
)
#: Lists and maps, mostly of numbers of several widths.
MIXED = st.one_of(
    st.lists(_numbers, min_size=1, max_size=4).map(lambda found: "[" + ",".join(found) + "]"),
    st.lists(_elements, max_size=4).map(lambda found: "[" + ", ".join(found) + "]"),
    st.lists(st.tuples(_keys, _elements), max_size=3).map(
        lambda found: "{" + ",".join(f"{key}:{item}" for key, item in found) + "}"
    ),
    st.lists(st.lists(_narrow, max_size=3), max_size=3).map(
        lambda found: "[" + ",".join("[" + ",".join(inner) + "]" for inner in found) + "]"
    ),
)
HEADERS = st.one_of(
    st.text("0123456789.-+eE", max_size=8),
    st.text('{}[],:"abc12 \\truefalsn', max_size=14),
    st.sampled_from(("true", "null", "2024-02-29", "10:11:12.123Z", "2024-02-29T10:11:12.123Z", "1e400")),
    st.sampled_from(("[1,2.5]", '{"a":1}', "NaN", "-Infinity", "[]", "{}", '"quoted"', "1,2", "FALSE")),
)  # fmt: skip


def schema_text(schema: Schema | None) -> str:
    """Return a schema as the oracle writes it."""
    if schema is None:
        return "null"
    text = schema.type.value + ("?" if schema.optional else "") + (f"/{schema.name}" if schema.name else "")
    if schema.parameters is not None:
        text += to_text(dict(schema.parameters))
    if schema.type is SchemaType.ARRAY:
        return f"{text}<{schema_text(schema.value)}>"
    if schema.type is SchemaType.MAP:
        return f"{text}<{schema_text(schema.key)},{schema_text(schema.value)}>"
    return text


def tagged(schema: Schema | None, value: ConnectValue) -> Any:
    """Return a value with the Java class of each of its parts, as the oracle does."""
    match value:
        case None | str() | bool():
            return value
        case list():
            return [tagged(schema and schema.value, item) for item in value]
        case dict():
            pairs = value.items()
            return {
                "entries": [
                    [tagged(schema and schema.key, k), tagged(schema and schema.value, v)] for k, v in pairs
                ]
            }
        case Decimal():
            text = f"{unscaled(value)}e{-scale_of(value)}"
        case date() | time() | FarDate() | FarTimestamp():
            return {"class": "java.util.Date", "text": str(date_millis(value))}
        case _:
            value = value if schema is None else narrowed(value, schema.type)
            text = to_text(value)
    return {"class": class_name(value), "text": text}


def by_number(node: Any) -> Any:
    """Name floats by their number: Java before 19 gives some one digit more than they need."""
    if isinstance(node, list):
        return [by_number(each) for each in node]
    if not isinstance(node, dict):
        return node
    of = {"java.lang.Float": float_text, "java.lang.Double": to_text}.get(node.get("class", ""))
    if of is not None:
        return {**node, "text": of(float(node["text"]))}
    return {key: by_number(each) for key, each in node.items()}


def ours(text: str) -> dict[str, Any]:
    found = parse_value(text)
    if found.schema is None and found.value is None:
        return {}
    return {
        "found": {"schema": schema_text(found.schema), "value": tagged(found.schema, found.value)},
        "text": value_to_text(found.schema, found.value),
        "toString": to_text_under(found.schema, found.value),
    }


def test_widths_of_mixed_numbers_in_headers_are_kafka_connects(oracle: Oracle) -> None:
    questions = [{"text": text} for text in gathered(MIXED, CASES)]
    java = [by_number(each.get("found")) for each in oracle.ask("parsed", questions)]
    assert not differing(questions, java, [ours(each["text"]).get("found") for each in questions])


def _loses_text(text: str, java: dict[str, Any]) -> bool:
    """Tell whether Kafka Connect reads "1,2" as 1 (KAFKA-20892), or loses a bracket after a blank."""
    if not java:
        return False
    kind = java["found"]["schema"].partition("/")[0].partition("{")[0]
    is_blank = kind == "string" and not java["found"]["value"].strip()
    return (kind in NUMBERS or is_blank) and any(each in text for each in ':,{}[]"')


def test_header_values_are_read_as_kafka_connect_reads_them(oracle: Oracle) -> None:
    questions = [{"text": text} for text in gathered(HEADERS, CASES)]
    answers = [ours(each["text"]) for each in questions]
    expected = []
    for question, java, answer in zip(questions, oracle.ask("parsed", questions), answers, strict=True):
        text = question["text"]
        as_it_is = {"found": {"schema": "string", "value": text}, "text": text, "toString": text}
        expected.append(as_it_is if answer == as_it_is and _loses_text(text, java) else java)
    assert not differing(questions, expected, answers)


def test_values_have_the_texts_they_have_in_kafka_connect(oracle: Oracle) -> None:
    values = gathered(WITHOUT_IDENTITIES, CASES)
    questions = [{"envelope": envelope(value).decode()} for value in values]
    answers: list[dict[str, Any]] = []
    for value in values:
        schema, mine = made(*value)
        answer: dict[str, Any] = {"toString": to_text_under(schema, mine)}
        try:
            answers.append({**answer, "text": value_to_text(schema, mine)})
        except DataError as error:
            answers.append({"error": error.message})
    assert not differing(questions, oracle.ask("texts", questions), answers)
