"""Records and configurations for transformations, generated: values with and without schemas, as JSON."""

from __future__ import annotations

import base64
import json
from typing import Any

from hypothesis import strategies as st

LOGICAL = "org.apache.kafka.connect.data"
FIELDS = ("a", "b", "c", "d")
Text = str | None

_letters = st.text("abcXYZ 019-.:é", max_size=6)
_small = st.integers(-(2**31), 2**31 - 1)
_long = st.integers(-(2**63), 2**63 - 1)
_double = st.floats(allow_nan=False, allow_infinity=False)
_bytes = st.binary(max_size=4).map(lambda data: base64.b64encode(data).decode())
_moment = st.integers(-2_000_000_000_000, 4_000_000_000_000)
_texts = st.one_of(
    _letters,
    st.sampled_from(
        ["1", "-12", "1e3", "2.5", "true", "FALSE", "", " 7", "128", "2024-02-29", "2024-02-29 10:11:12"]
    ),
)

#: Schema without its place, and what a payload under it may be.
_PRIMITIVES: tuple[tuple[dict[str, Any], st.SearchStrategy[Any]], ...] = (
    ({"type": "int8"}, st.integers(-128, 127)),
    ({"type": "int16"}, st.integers(-(2**15), 2**15 - 1)),
    ({"type": "int32"}, _small),
    ({"type": "int64"}, _long),
    # Exact in seven digits: Java before 19 gives some others one digit more than they need.
    ({"type": "float"}, st.integers(-9999, 9999).map(lambda eighths: eighths / 8)),
    ({"type": "double"}, _double),
    ({"type": "boolean"}, st.booleans()),
    ({"type": "string"}, _texts),
    ({"type": "bytes"}, _bytes),
    ({"type": "int64", "name": f"{LOGICAL}.Timestamp", "version": 1}, _moment),
    ({"type": "int32", "name": f"{LOGICAL}.Date", "version": 1}, st.integers(-20_000, 40_000)),
    ({"type": "int32", "name": f"{LOGICAL}.Time", "version": 1}, st.integers(0, 86_399_999)),
    (
        {"type": "bytes", "name": f"{LOGICAL}.Decimal", "version": 1, "parameters": {"scale": "2"}},
        _bytes.filter(len),
    ),
)


@st.composite
def _primitive(draw: st.DrawFn) -> tuple[dict[str, Any], Any]:
    schema, payloads = draw(st.sampled_from(_PRIMITIVES))
    optional = draw(st.booleans())
    payload = draw(payloads | st.none() if optional else payloads)
    return {**schema, "optional": optional}, payload


@st.composite
def _struct(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> tuple[dict[str, Any], Any]:
    names = draw(st.lists(st.sampled_from(FIELDS), unique=True, max_size=4))
    found = {name: draw(inner) for name in names}
    fields = [{**schema, "field": name} for name, (schema, _) in found.items()]
    schema: dict[str, Any] = {"type": "struct", "fields": fields, "optional": draw(st.booleans())}
    if draw(st.booleans()):
        schema |= {"name": "orders.Value", "version": 3}
    payload = {name: value for name, (_, value) in found.items()}
    return schema, None if schema["optional"] and draw(st.integers(0, 9)) == 0 else payload


@st.composite
def _array(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> tuple[dict[str, Any], Any]:
    schema, payload = draw(inner)
    return {"type": "array", "items": schema, "optional": False}, [payload] * draw(st.integers(0, 2))


_structs = _struct(st.recursive(_primitive(), lambda inner: _struct(inner) | _array(inner), max_leaves=4))
_plain = st.recursive(
    st.none() | st.booleans() | _long | _double | _texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=5,
)
_maps = st.dictionaries(st.sampled_from(FIELDS), _plain, max_size=4)


def _text(found: tuple[dict[str, Any] | None, Any]) -> str:
    return json.dumps({"schema": found[0], "payload": found[1]})


with_schema = (_structs | _primitive()).map(_text)
schemaless = (_maps | _plain).map(lambda payload: _text((None, payload)))
#: A key or a value: mostly containers, since most transformations want one.
values: st.SearchStrategy[Text] = st.one_of(
    _structs.map(_text), with_schema, _maps.map(lambda payload: _text((None, payload))), schemaless, st.none()
)


@st.composite
def cases(draw: st.DrawFn, name: str, configs: st.SearchStrategy[dict[str, str]]) -> dict[str, Any]:
    """Return a record, and a plugin with a configuration to put it through."""
    names = st.sampled_from(("h", "trace", "x"))
    return {
        "class": name,
        "config": draw(configs),
        "key": draw(values),
        "value": draw(values),
        "topic": draw(st.sampled_from(("orders", "orders-raw", "a.b.c", "t"))),
        "ts": draw(_moment.filter(lambda moment: moment >= 0)),
        "headers": [[each, "1"] for each in draw(st.lists(names, max_size=3))],
    }
