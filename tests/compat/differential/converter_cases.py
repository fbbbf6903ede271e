"""Values, schemas and bytes for converters, generated: each type with its edges, and what only looks JSON."""

from __future__ import annotations

import base64
import json
from typing import Any

from hypothesis import strategies as st

from tests.compat.differential.generated import FIELDS, LOGICAL

#: JsonConverter's schema, or None, and a payload of it.
Value = tuple[dict[str, Any] | None, Any]

_letters = st.text(st.characters(exclude_categories=["Cs"]), max_size=5) | st.text(
    'ab "\\/\t\n\x01\x7fé€𝄞', max_size=6
)
# Java before 19 gives some numbers one digit more than they need: none of these.
_double = st.floats(allow_nan=False, allow_infinity=False).map(lambda value: float(f"{value:.12g}"))
#: 1e39 and -1e39 are infinite in 32 bits.
_float = st.integers(-9999, 9999).map(lambda eighths: eighths / 8) | st.sampled_from(
    (1.1, 0.1, 3.3, 1e10, 1e-5, 3.4028235e38, 1e39, -1e39)
)
_moment = st.integers(-2_000_000_000_000, 4_000_000_000_000)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _integers(bits: int) -> st.SearchStrategy[int]:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    return st.integers(low, high) | st.sampled_from((low, high, 0, -1))


_SIMPLE: list[tuple[dict[str, Any], st.SearchStrategy[Any]]] = [
    *(({"type": f"int{bits}"}, _integers(bits)) for bits in (8, 16, 32, 64)),
    ({"type": "float"}, _float),
    ({"type": "double"}, _double),
    ({"type": "boolean"}, st.booleans()),
    ({"type": "string"}, _letters),
    ({"type": "int64", "name": f"{LOGICAL}.Timestamp", "version": 1}, _moment),
    ({"type": "int32", "name": f"{LOGICAL}.Date", "version": 1}, st.integers(-20_000, 40_000)),
    ({"type": "int32", "name": f"{LOGICAL}.Time", "version": 1}, st.integers(0, 86_399_999)),
    ({"type": "int32", "name": "a.Name", "doc": "d", "parameters": {"k": "v"}}, _integers(32)),
]
_DECIMALS: list[tuple[dict[str, Any], st.SearchStrategy[Any]]] = [
    (
        {"type": "bytes", "name": f"{LOGICAL}.Decimal", "version": 1, "parameters": {"scale": scale}},
        st.binary(min_size=1, max_size=9).map(_base64),
    )
    for scale in ("0", "2", "-3", "12")
]
_BYTES: tuple[dict[str, Any], st.SearchStrategy[Any]] = (
    {"type": "bytes"},
    st.binary(max_size=5).map(_base64),
)


@st.composite
def _primitive(draw: st.DrawFn, kinds: list[tuple[dict[str, Any], st.SearchStrategy[Any]]]) -> Value:
    kind, payloads = draw(st.sampled_from(kinds))
    schema, payload = dict(kind), draw(payloads)
    if draw(st.integers(0, 3)) == 0:
        schema["default"] = draw(payloads)
    schema["optional"] = draw(st.booleans())
    if schema["optional"] and draw(st.integers(0, 3)) == 0:
        payload = None
    return schema, payload


@st.composite
def _struct(draw: st.DrawFn, inner: st.SearchStrategy[Value]) -> Value:
    names = draw(st.lists(st.sampled_from(FIELDS), unique=True, max_size=4))
    found = {name: draw(inner) for name in names}
    fields = [{**(schema or {}), "field": name} for name, (schema, _) in found.items()]
    schema: dict[str, Any] = {"type": "struct", "fields": fields, "optional": draw(st.booleans())}
    if draw(st.booleans()):
        schema |= {"name": "orders.Value", "version": 3}
    payload = {name: value for name, (_, value) in found.items()}
    return schema, None if schema["optional"] and draw(st.integers(0, 9)) == 0 else payload


@st.composite
def _collection(draw: st.DrawFn, inner: st.SearchStrategy[Value]) -> Value:
    schema, payload = draw(inner)
    match draw(st.sampled_from(("array", "texts", "pairs"))):
        case "array":
            return {"type": "array", "items": schema}, [payload] * draw(st.integers(0, 2))
        case "texts":
            names = sorted(draw(st.sets(st.sampled_from(FIELDS), max_size=3)))
            keys = {"type": "string"}
            return {"type": "map", "keys": keys, "values": schema}, dict.fromkeys(names, payload)
        case _:
            pairs = [[7, payload]][: draw(st.integers(0, 1))]
            return {"type": "map", "keys": {"type": "int32"}, "values": schema}, pairs


def _with_schema(kinds: list[tuple[dict[str, Any], st.SearchStrategy[Any]]]) -> st.SearchStrategy[Value]:
    return st.one_of(
        _primitive(kinds),
        _primitive(kinds),
        st.recursive(_primitive(kinds), lambda inner: _struct(inner) | _collection(inner), max_leaves=4),
    )


_plain = st.recursive(
    st.none() | st.booleans() | _integers(64) | _double | _letters,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4).map(
            lambda found: dict(sorted(found.items()))
        )
    ),
    max_leaves=5,
)
_schemaless: st.SearchStrategy[Value] = _plain.map(lambda payload: (None, payload))
VALUES: st.SearchStrategy[Value] = _with_schema([*_SIMPLE, *_DECIMALS, _BYTES]) | _schemaless
#: Values of the type that a converter of numbers, booleans or bytes is for.
OF_TYPE: dict[str, st.SearchStrategy[Value]] = {
    "Short": _primitive([_SIMPLE[1]]),
    "Integer": _primitive([_SIMPLE[2]]),
    "Long": _primitive([_SIMPLE[3]]),
    "Float": _primitive([_SIMPLE[4]]),
    "Double": _primitive([_SIMPLE[5]]),
    "Boolean": _primitive([_SIMPLE[6]]),
    "ByteArray": _primitive([_BYTES]),
}
#: For converters to text: without bytes, of which Java prints the address.
WITHOUT_IDENTITIES: st.SearchStrategy[Value] = _with_schema([*_SIMPLE, *_DECIMALS]) | _schemaless

#: A schema, and a value of another one.
MISFITS = st.tuples(VALUES.map(lambda value: value[0]), VALUES)

_KINDS = ("int8", "int16", "int32", "int64", "float", "double", "boolean", "string", "bytes")
_NAMES = (None, "Decimal", "Date", "Time", "Timestamp")
_any_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | _double | _letters
    | st.sampled_from(("", "AQ==", "AQ", "!", "12", "A Q==", "AQ==AQ==", "AQ==\n", "NaN", "true")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=3),
    max_leaves=4,
)  # fmt: skip


@st.composite
def _loose_schema(draw: st.DrawFn) -> Any:
    """Return what may be a schema or nearly one."""
    kind = draw(st.sampled_from((*_KINDS, *_KINDS, "array", "map", "struct", "odd")))
    schema: dict[str, Any] = {"type": kind, "optional": draw(st.booleans()), **draw(_inside(kind))}
    if draw(st.integers(0, 4)) == 0:
        schema["default"] = draw(_any_json)
    if draw(st.integers(0, 7)) == 0:
        broken = draw(st.sampled_from(("type", "items", "keys", "values", "fields")))
        schema[broken] = draw(st.sampled_from((None, 5, "x", [], {})))
    return schema


@st.composite
def _inside(draw: st.DrawFn, kind: str) -> dict[str, Any]:
    kinds = st.sampled_from(_KINDS)
    match kind:
        case "array":
            return {"items": {"type": draw(kinds), "optional": draw(st.booleans())}}
        case "map":
            keys = draw(st.sampled_from(("string", "int32")))
            return {"keys": {"type": keys}, "values": {"type": draw(kinds)}}
        case "struct":
            names = draw(st.lists(st.sampled_from(FIELDS), max_size=3))
            options = st.booleans()
            return {
                "fields": [{"type": draw(kinds), "field": each, "optional": draw(options)} for each in names]
            }
        case "int32" | "int64" | "bytes":
            return draw(_logical_name())
    return {}


@st.composite
def _logical_name(draw: st.DrawFn) -> dict[str, Any]:
    name = draw(st.sampled_from(_NAMES))
    named = {} if name is None else {"name": f"{LOGICAL}.{name}", "version": 1}
    scale = draw(st.sampled_from((None, "2", "0", "x"))) if name == "Decimal" else None
    return named if scale is None else {**named, "parameters": {"scale": scale}}


@st.composite
def _loose(draw: st.DrawFn) -> bytes:
    return json.dumps({"schema": draw(_loose_schema()), "payload": draw(_any_json)}).encode()


#: Payloads that need not be of their schema, and schemas that need not make sense.
JSON_PAYLOADS: st.SearchStrategy[bytes] = _loose() | _any_json.map(lambda node: json.dumps(node).encode())
_texts = st.sampled_from((
    b"", b" ", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe1\0", b"\xfe\xff\0001", b"\xff\xfe\0\0",
    b"\0\0\xfe\xff", b"\xff", b"\xef\xbb\xbf1", b"\xef\xbb\xbf", b"1\0", b"\0001", b"\0\0\0001",
    b"1\0\0\0", b"\0\0001\0", b"\xc3\xa9", b'"\xc3\xa9"', b'"\xff"', b'"\xed\xa0\x80"', b'"\xc0\x80"',
    b"1 \xff", b"[1] \xff", b"{} x", b"1 2", b"1x", b"1}", b"true}", b"truex", b"true\xff", b"null:",
    b"null,", b"nullx", b"false$", b'"a"b', b"01", b"-01", b"007", b"[007]", b"-", b"+1", b".5", b"5.",
    b"1e5x", b"NaN", b"[NaN]", b"Infinity", b"'a'", b"/* c */1", b"[1,]", b"{,}", b'{"a":1,"a":2}',
    b'"\x01"', b'"\\x"', b'"\\ud800"', b'{"a"}', b"[1", b'{"a":1', b'"a', b"nul", b"tru", b"-0",
    b"[-0.0]", b"-0e5", b"1e400", b"[1e-400]", b"9" * 20, b"9" * 1000, b"9" * 1001, b"-" + b"9" * 1000,
    b"-" + b"9" * 1001, b"0." + b"1" * 999, b"0." + b"1" * 1000, b"[" * 1000 + b"]" * 1000,
    b"[" * 1001 + b"]" * 1001, b'{"a":' * 200 + b"1" * 20 + b"}" * 200, b'"' + b"[" * 3000 + b'"',
))  # fmt: skip
#: What is JSON, or nearly, or not at all.
JSON_BYTES: st.SearchStrategy[bytes] = (
    _texts
    | st.binary(max_size=6)
    | st.text('{}[]",:\\u-.0123456789eEtruefalsn \t', max_size=12).map(str.encode)
)
#: Numbers, lists and maps as text, and what only begins like one.
HEADER_TEXTS: st.SearchStrategy[bytes] = st.one_of(
    st.text("0123456789.-+eE", max_size=5),
    st.text('{}[],:"abc12 \\truefalsn', max_size=14),
    st.sampled_from(("true", "null", "2024-02-29", "10:11:12.123Z", "2024-02-29T10:11:12.123Z", "")),
    st.sampled_from(("[1,2]", '{"a":1}', '[{"a":[]}]', "NaN", "[]", "{}", '"quoted"', "FALSE", '["a","b"]')),
).map(str.encode)
JSON_CONFIGS: list[dict[str, str]] = [
    {},
    {"schemas.enable": "false"},
    {"schemas.cache.size": "1"},
    {"schemas.cache.size": "0"},
    {"decimal.format": "NUMERIC"},
    {"decimal.format": "numeric", "schemas.enable": "false"},
    {"replace.null.with.default": "false"},
    {"schema.content": '{"type":"int64","optional":true}'},
    {"schema.content": json.dumps({
        "type": "struct", "fields": [
            {"type": "int32", "optional": True, "field": "a"},
            {"type": "string", "default": "x", "field": "b"},
            {"type": "bytes", "name": f"{LOGICAL}.Decimal", "parameters": {"scale": "2"}, "optional": True,
             "field": "c"},
        ]}), "schemas.enable": "false"},
]  # fmt: skip


def envelope(value: Value) -> bytes:
    """Return a value as JsonConverter's envelope."""
    return json.dumps({"schema": value[0], "payload": value[1]}).encode()
