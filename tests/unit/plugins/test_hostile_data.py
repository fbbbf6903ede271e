"""No data makes a converter hang or fail in another way than by refusing it."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC
from decimal import Decimal
from functools import cache
from typing import Any

import pytest
from copycat_connect.data.narrow import Float32, Int8, Int16, Int32
from copycat_connect.errors import CopycatError
from copycat_connect.plugin import Converter, HeaderConverter, PluginKind
from copycat_testkit.gathered import gathered
from hypothesis import strategies as st

from tests.unit.plugins.answers import PLUGINS

#: Converters that need nothing but themselves, with and without schemas where they know of them.
SELF_CONTAINED = [
    (spec, config)
    for spec in PLUGINS.all()
    if spec.kind in (PluginKind.CONVERTER, PluginKind.HEADER_CONVERTER)
    and not any(key.name == "schema.registry.url" for key in spec.config.keys.values())
    for config in ({}, {"schemas.enable": "false"})
]
NAMES = [
    f"{spec.class_name.rpartition('.')[2]}-{spec.kind.value}-{len(config)}" for spec, config in SELF_CONTAINED
]
LOGICAL = "org.apache.kafka.connect.data"
#: Generated for each converter; drawn once, since to draw them takes far longer than to convert them.
CASES = 300
DEEP = 20_000
LONG = 200_000


def envelope(schema: dict[str, Any], payload: Any) -> bytes:
    return json.dumps({"schema": schema, "payload": payload}).encode()


EXTREMES = (
    b"[" * DEEP,
    b"[" * DEEP + b"]" * DEEP,
    b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    *(b"[" * depth + b"]" * depth for depth in (250, 400, 999)),
    *(b'{"schema":null,"payload":' + b"[" * depth + b"]" * depth + b"}" for depth in (250, 400, 990)),
    b'{"a":' * 600 + b"9" * 20 + b"}" * 600,
    b'{"schema":null,"payload":' + b'{"a":' * 600 + b"9" * 20 + b"}" * 601,
    b"9" * LONG,
    b"-" + b"9" * LONG,
    b"1e" + b"9" * 9,
    b"1e-" + b"9" * 9,
    b"0." + b"1" * LONG,
    b'"' + b"\\" * LONG + b'"',
    b'"\\ud800"',
    b"\xff" * LONG,
    b'{"schema":' * 200 + b"{}" + b"}" * 200,
    envelope({"type": "struct", "fields": None}, {}),
    envelope({"type": "int8"}, 10**400),
    envelope({"type": "bytes", "name": f"{LOGICAL}.Decimal"}, "AA=="),
    envelope({"type": "int64", "name": f"{LOGICAL}.Timestamp"}, 2**62),
    envelope({"type": "int32", "name": f"{LOGICAL}.Date"}, -(2**31)),
)  # fmt: skip
JSON_LIKE = st.text('{}[]",:\\ue+-.0123456789truefalsn schemapyloid', max_size=30).map(str.encode)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.binary(max_size=5),
    st.decimals(), st.dates(), st.times(), st.datetimes(timezones=st.just(UTC)), st.just(object()),
    st.sampled_from((Int8(1), Int16(2), Int32(3), Float32(0.5), 2**64, -(2**70), Decimal("1e999"), 1j)),
)  # fmt: skip
KEYS = st.text(max_size=3) | st.integers()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@cache
def texts() -> list[bytes]:
    return gathered(st.binary(max_size=40) | JSON_LIKE, CASES)


@cache
def values() -> list[Any]:
    return gathered(VALUES, CASES)


def made(spec: Any, config: dict[str, str]) -> Any:
    converter = spec.make()
    converter.configure(config)
    return converter


def reader(converter: Any) -> Callable[[bytes], Any]:
    if isinstance(converter, HeaderConverter):
        return lambda data: converter.to_connect_header("t", "h", data)
    return lambda data: converter.to_connect("t", None, data)


def writer(converter: Any) -> Callable[[Any], Any]:
    if isinstance(converter, HeaderConverter):
        return lambda value: converter.from_connect_header("t", "h", None, value)
    return lambda value: converter.from_connect("t", None, None, value)


@pytest.mark.parametrize(("spec", "config"), SELF_CONTAINED, ids=NAMES)
def test_any_bytes_are_read_or_refused(spec: Any, config: dict[str, str]) -> None:
    read = reader(made(spec, config))
    for data in texts():
        with suppress(CopycatError):
            read(data)


@pytest.mark.parametrize(("spec", "config"), SELF_CONTAINED, ids=NAMES)
def test_extremes_are_read_or_refused(spec: Any, config: dict[str, str]) -> None:
    converter = made(spec, config)
    read, write = reader(converter), writer(converter)
    for data in EXTREMES:
        with suppress(CopycatError):
            found = read(data)
            write(found.value)


@pytest.mark.parametrize(("spec", "config"), SELF_CONTAINED, ids=NAMES)
@pytest.mark.parametrize("levels", [200, 300, 600, 5000])
def test_values_that_nest_deep_are_written_or_refused(spec: Any, config: dict[str, str], levels: int) -> None:
    converter = made(spec, config)
    write = writer(converter)
    lists: Any = 1.0
    maps: Any = 2**70
    for _ in range(levels):
        lists, maps = [lists], {"\ud800": maps}
    for value in (lists, maps):
        with suppress(CopycatError):
            write(value)
        if isinstance(converter, Converter):
            with suppress(CopycatError):
                converter.from_connect_batch("t", None, [value])


@pytest.mark.parametrize(("spec", "config"), SELF_CONTAINED, ids=NAMES)
def test_any_value_is_written_or_refused(spec: Any, config: dict[str, str]) -> None:
    write = writer(made(spec, config))
    for value in values():
        with suppress(CopycatError):
            assert isinstance(write(value), bytes | None)
