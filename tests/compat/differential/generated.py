"""Records and configurations for every transformation and predicate, generated, as JSON."""

from __future__ import annotations

import base64
import json
from typing import Any, Final

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


Configs = st.SearchStrategy[dict[str, str]]
TRANSFORMS: Final = "org.apache.kafka.connect.transforms"

_field = st.sampled_from((*FIELDS, "missing"))
_path = st.sampled_from((*FIELDS, "missing", "a.b", "`a`.b", "a.b.c"))
_fields = st.lists(_field, min_size=1, max_size=3, unique=True).map(",".join)
_nulls = st.sampled_from(({}, {"replace.null.with.default": "false"}))
_types = st.sampled_from(
    ("int8", "int16", "int32", "int64", "float32", "float64", "boolean", "string", "INT32", "bytes", "date")
)
_pairs = st.tuples(_field, _types).map(":".join)
_renames = st.lists(
    st.tuples(_field, st.sampled_from(("a", "z", "y"))).map(":".join), max_size=2, unique=True
).map(",".join)


def _all(**keys: st.SearchStrategy[str]) -> Configs:
    named = {name.replace("_", "."): values for name, values in keys.items()}
    return st.tuples(st.fixed_dictionaries(named), _nulls).map(lambda found: found[0] | found[1])


@st.composite
def _some(draw: st.DrawFn, /, **keys: st.SearchStrategy[str]) -> dict[str, str]:
    wanted = draw(st.lists(st.sampled_from(sorted(keys)), unique=True))
    return {name.replace("_", "."): draw(keys[name]) for name in wanted} | draw(_nulls)


@st.composite
def _moves(draw: st.DrawFn) -> dict[str, str]:
    fields = draw(st.lists(_field, min_size=1, max_size=2, unique=True))
    headers = draw(st.lists(st.sampled_from(("h", "x")), min_size=1, max_size=2))
    operation = draw(st.sampled_from(("move", "copy", "COPY")))
    return {"fields": ",".join(fields), "headers": ",".join(headers), "operation": operation}


_words = st.sampled_from(("x", "at?", "at!", "a"))
BOTH_SIDES: Final[dict[str, Configs]] = {
    "Cast": _all(spec=_types | st.lists(_pairs, min_size=1, max_size=2).map(",".join)),
    "ExtractField": _all(
        field=_path,
        field_syntax_version=st.sampled_from(("V1", "V2")),
    ),
    "Flatten": st.sampled_from(({}, {"delimiter": "_"}, {"delimiter": ""})),
    "HeaderFrom": _moves(),
    "HoistField": _all(field=_field),
    "InsertField": _some(
        topic_field=_words,
        partition_field=_words,
        offset_field=_words,
        timestamp_field=_words,
        static_field=_words,
        static_value=_words,
    ),
    "MaskField": _some(fields=_fields, replacement=st.sampled_from(("", "x", "7", "2.5"))),
    "ReplaceField": _some(exclude=_fields, include=_fields, renames=_renames),
    "SetSchemaMetadata": _some(schema_name=_words, schema_version=st.sampled_from(("1", "x"))),
    "TimestampConverter": _some(
        field=_field,
        target_type=st.sampled_from(("string", "unix", "Date", "Time", "Timestamp", "date")),
        format=st.sampled_from(("yyyy-MM-dd", "yyyy-MM-dd HH:mm:ss.SSS", "EEE, d MMM yyyy", "'")),
        unix_precision=st.sampled_from(("seconds", "milliseconds", "microseconds", "nanoseconds")),
    ),
}
ONE_SIDE: Final[dict[str, Configs]] = {
    "DropHeaders": _all(headers=st.sampled_from(("h", "h,x", "trace", ""))),
    "Filter": st.just({}),
    "InsertHeader": _all(
        header=st.sampled_from(("h", "new")),
        value_literal=st.sampled_from(("1", "300", "70000", "true", "text", "null", "2.5", "")),
    ),
    "RegexRouter": _all(
        regex=st.sampled_from(("(.*)-raw", "o.*", r"(\w)\.(\w)\.(\w)", "a|ab", "(", "t")),
        replacement=st.sampled_from(("$1", "x", "$1-$2", "", r"\$1")),
    ),
    "TimestampRouter": _some(
        topic_format=st.sampled_from(("${topic}-${timestamp}", "x", "${timestamp}${timestamp}")),
        timestamp_format=st.sampled_from(("yyyyMMdd", "HH:mm:ss.SSS", "EEEE MMMM", "DDD", "z")),
    ),
    "ValueToKey": _all(
        fields=st.lists(_path, min_size=1, max_size=3, unique=True).map(",".join),
        field_syntax_version=st.sampled_from(("V1", "V2")),
    ),
    "predicates.HasHeaderKey": _all(name=st.sampled_from(("h", "H", "trace", ""))),
    "predicates.RecordIsTombstone": st.just({}),
    "predicates.TopicNameMatches": _all(
        pattern=st.sampled_from(("orders", "o.*", "[", "", r"a\.b\..", ".*w"))
    ),
}
#: Class name of each -> what it may be configured with.
CONFIGURATIONS: Final[dict[str, Configs]] = {
    f"{TRANSFORMS}.{name}${side}": configs
    for name, configs in BOTH_SIDES.items()
    for side in ("Key", "Value")
} | {f"{TRANSFORMS}.{name}": configs for name, configs in ONE_SIDE.items()}
