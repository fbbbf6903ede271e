"""SparkSource writes the very bytes that ObjectSource writes of a Parquet file, whatever the converter."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from copycat_testkit.kafka import unique, wait_until

from tests.integration.plugins.spark.lake import JSON, SECONDS, Lake

pytestmark = [pytest.mark.timeout(500), pytest.mark.long]
NAME = unique("bytes")
"""One connector, and so one driver, for all converters."""
AT = datetime(2024, 2, 29, 23, 59, 59, 999_999, tzinfo=UTC)
DECIMAL = pa.decimal128(9, 2)
POINT = pa.struct([pa.field("x", pa.float64()), pa.field("at", pa.timestamp("ms", tz="UTC"))])
#: Each type, and values at its ends.
COLUMNS: Mapping[str, tuple[pa.DataType, list[Any]]] = {
    "int8": (pa.int8(), [-128, 127]),
    "int16": (pa.int16(), [-(2**15), 2**15 - 1]),
    "int32": (pa.int32(), [-(2**31), 2**31 - 1]),
    "int64": (pa.int64(), [-(2**63), 2**63 - 1]),
    "uint8": (pa.uint8(), [0, 255]),
    "uint16": (pa.uint16(), [0, 2**16 - 1]),
    "uint32": (pa.uint32(), [0, 2**32 - 1]),
    "uint64": (pa.uint64(), [0, 2**64 - 1]),
    "float": (pa.float32(), [-1.1, 3.4028234663852886e38]),
    "double": (pa.float64(), [5e-324, 1.7976931348623157e308]),
    "boolean": (pa.bool_(), [True, False]),
    "string": (pa.string(), ["", "wörd 😀\0"]),
    "bytes": (pa.binary(), [b"", b"\x00\xff"]),
    "fixed": (pa.binary(3), [b"\0\0\0", b"abc"]),
    "decimal": (DECIMAL, [Decimal("-9999999.99"), Decimal("0.01")]),
    "wide": (pa.decimal128(38, 10), [Decimal(-(10**27)), Decimal("0.0000000001")]),
    "day": (pa.date32(), [date(1, 1, 1), date(9999, 12, 31)]),
    "micro_time": (pa.time64("us"), [time(0), time(23, 59, 59, 999_999)]),
    "millis": (pa.timestamp("ms", tz="UTC"), [datetime(1, 1, 1, tzinfo=UTC), AT.replace(microsecond=0)]),
    "micros": (pa.timestamp("us", tz="UTC"), [datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), AT]),
    "local": (pa.timestamp("us"), [datetime(1900, 1, 1), AT.replace(tzinfo=None)]),  # noqa: DTZ001
    "nanos": (pa.timestamp("ns", tz="UTC"), [AT - timedelta(days=36500), AT]),
    "words": (pa.list_(pa.string()), [[], ["a", None, "ü"]]),
    "prices": (pa.list_(DECIMAL), [[Decimal("1.10"), None], [Decimal(-1)]]),
    "days": (pa.list_(pa.date32()), [[date(2024, 2, 29), None], []]),
    "counts": (pa.map_(pa.string(), pa.int16()), [[], [("a", 1), ("b", None)]]),
    "moments": (pa.map_(pa.string(), pa.timestamp("ms", tz="UTC")), [[("a", AT.replace(microsecond=0))], []]),
    "point": (POINT, [{"x": 1.5, "at": None}, {"x": None, "at": AT.replace(microsecond=0)}]),
    "points": (pa.list_(POINT), [[{"x": 1.5, "at": None}, None], []]),
    "deep": (
        pa.struct([pa.field("in", pa.struct([pa.field("raw", pa.binary()), pa.field("n", pa.int8())]))]),
        [{"in": {"raw": b"\1", "n": 1}}, {"in": None}],
    ),
}
KEY = {
    "transforms": "key",
    "transforms.key.type": "org.apache.kafka.connect.transforms.ValueToKey",
    "transforms.key.fields": "id,decimal,string,point",
}
CONVERTERS = {
    "JSON with schemas": (JSON, {"schemas.enable": "true"}),
    "JSON without schemas": (JSON, {"schemas.enable": "false"}),
    "Avro": ("io.confluent.connect.avro.AvroConverter", {}),
    "Protobuf": ("io.confluent.connect.protobuf.ProtobufConverter", {}),
}


def without_nulls(value: Any) -> Any:
    """Return a list or the pairs of a map without what is null."""
    if not isinstance(value, list):
        return value
    return [each for each in value if each is not None and not (isinstance(each, tuple) and each[1] is None)]


def table(*, nulls_inside: bool) -> pa.Table:
    """Rows: the values of each type, then none; and each once more in a column that is never null."""
    ids = pa.array(range(3), pa.int64())
    fields, arrays = [pa.field("id", pa.int64(), nullable=False)], [ids]
    for name, (type_, found) in COLUMNS.items():
        values = found if nulls_inside else [without_nulls(value) for value in found]
        fields.append(pa.field(name, type_))
        arrays.append(pa.array([*values, None], type_))
        fields.append(pa.field(f"{name}_needed", type_, nullable=False))
        arrays.append(pa.array([*values, values[0]], type_))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


@pytest.mark.parametrize("converter", CONVERTERS)
def test_values_and_keys_are_those_of_object_source(lake: Lake, schema_registry: str, converter: str) -> None:
    class_name, settings = CONVERTERS[converter]
    given = {"": class_name, ".schema.registry.url": schema_registry}
    given |= {f".{key}": text for key, text in settings.items()}
    both = {f"{side}.converter{key}": text for side in ("key", "value") for key, text in given.items()}
    fits = table(nulls_inside=converter != "Protobuf")  # whose lists and maps have none
    pq.write_table(fits, lake.folder / "a.parquet", row_group_size=2)
    mine, theirs = unique("spark"), unique("object")
    lake.put(NAME, **KEY, **both, topic=mine, **{"connector.class": "SparkSource", "format": "parquet"})
    lake.put(theirs, **KEY, **both, **{"connector.class": "ObjectSource"})
    for name in (NAME, theirs):
        wait_until(lambda name=name: lake.state(name) in {"RUNNING", "FAILED"}, SECONDS, "it runs")  # type: ignore[misc]
    lake.waits_for(theirs, 3)
    lake.waits_for(mine, 3)
    found, expected = [
        [(each.key(), each.value()) for each in lake.records(topic)] for topic in (mine, theirs)
    ]
    assert found == expected
    lake.ask("DELETE", theirs)
    if converter == list(CONVERTERS)[-1]:
        lake.ask("DELETE", NAME)
