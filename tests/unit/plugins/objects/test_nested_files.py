"""Structs in structs, lists and maps, in files of Parquet and Avro: as others and as we read them."""

from __future__ import annotations

import io
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import fastavro
import pyarrow.parquet as pq
import pytest
from copycat_connect.data import (
    BYTES_SCHEMA,
    DATE_SCHEMA,
    FLOAT64_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectValue,
    SchemaBuilder,
    Struct,
    decimal_schema,
)
from copycat_connect.errors import DataError
from copycat_objects.formats.avro import AvroFiles
from copycat_objects.formats.csv_reader import CsvOptions
from copycat_objects.formats.format import Format
from copycat_objects.formats.opening import open_reader
from copycat_objects.formats.parquet import ParquetFiles
from copycat_objects.formats.reader import START
from copycat_objects.stores.opening import open_store

NAME = (
    SchemaBuilder.struct()
    .name("Name")
    .field("lang", STRING_SCHEMA)
    .field("text", OPTIONAL_STRING_SCHEMA)
    .build()
)
PLACE = (
    SchemaBuilder.struct()
    .name("Place")
    .optional()
    .field("lat", FLOAT64_SCHEMA)
    .field("names", SchemaBuilder.array(NAME).build())
    .build()
)
ORDER = (
    SchemaBuilder.struct()
    .name("Order")
    .field("id", INT64_SCHEMA)
    .field("tags", SchemaBuilder.array(OPTIONAL_STRING_SCHEMA).optional().build())
    .field("counts", SchemaBuilder.map(STRING_SCHEMA, INT64_SCHEMA).build())
    .field("places", SchemaBuilder.map(STRING_SCHEMA, PLACE).build())
    .field("place", PLACE)
    .field("price", decimal_schema(2))
    .field("day", DATE_SCHEMA)
    .field("at", TIMESTAMP_SCHEMA)
    .field("raw", BYTES_SCHEMA)
    .build()
)
AT = datetime(2026, 3, 5, 17, 4, 9, 120_000, tzinfo=UTC)
FORMATS: Mapping[str, Format] = {"parquet": ParquetFiles("snappy"), "avro": AvroFiles("deflate")}


def order(number: int) -> Struct:
    """Return an order: every other one lacks what may be missing."""
    names = [Struct(NAME, {"lang": "fr", "text": "Lyon"}), Struct(NAME, {"lang": "de"})]
    place = Struct(PLACE, {"lat": 45.75, "names": names}) if number % 2 else None
    return Struct(
        ORDER,
        {
            "id": number,
            "tags": ["a", None, "é😀"] if number % 2 else None,
            "counts": {"x": number, "y": -number} if number % 2 else {},
            "places": {"here": place, "nowhere": None},
            "place": place,
            "price": Decimal("12.30") * number,
            "day": date(2026, 3, 5),
            "at": AT,
            "raw": bytes([number]),
        },
    )


def plain(value: ConnectValue) -> object:
    """Return structs as maps."""
    match value:
        case Struct():
            return {field.name: plain(value.get(field)) for field in value.schema.fields}
        case list():
            return [plain(each) for each in value]
        case dict():
            return {key: plain(each) for key, each in value.items()}
    return value


def written(kind: str, values: list[Struct]) -> bytes:
    """Return a file of values, written in two parts."""
    sink = io.BytesIO()
    writer = FORMATS[kind].writer(sink, ORDER)  # type: ignore[arg-type]  # it takes more than a sink needs to
    writer.write(values[:3])
    writer.write(values[3:])
    writer.finish()
    return sink.getvalue()


VALUES = [order(number) for number in range(7)]


def test_arrow_reads_parquet() -> None:
    table = pq.read_table(io.BytesIO(written("parquet", VALUES)))
    found = [
        {**each, "counts": dict(each["counts"]), "places": dict(each["places"])} for each in table.to_pylist()
    ]
    assert found == [plain(value) for value in VALUES]


def test_another_reader_reads_avro() -> None:
    assert [*fastavro.reader(io.BytesIO(written("avro", VALUES)))] == [plain(value) for value in VALUES]


def test_null_in_a_struct_that_allows_for_none_is_refused() -> None:
    writer = FORMATS["parquet"].writer(io.BytesIO(), ORDER)  # type: ignore[arg-type]  # see below
    wrong = order(1)
    place = wrong.get("place")
    assert isinstance(place, Struct)
    place.values[0] = None
    with pytest.raises(DataError, match="The field lat is null"):
        writer.write([order(0), wrong])


@pytest.mark.parametrize("kind", FORMATS)
def test_the_object_source_reads_back_schema_and_values(tmp_path: Path, kind: str) -> None:
    (tmp_path / f"orders.{kind}").write_bytes(written(kind, VALUES))
    store = open_store({}, str(tmp_path))
    stored = store.find(f"orders.{kind}")
    assert stored is not None
    reader = open_reader(store, stored, kind, START, CsvOptions())
    chunk = reader.read(100)
    reader.close()
    assert [plain(value) for value in chunk.values] == [plain(value) for value in VALUES]
    assert chunk.schema is not None
    assert chunk.schema.name == ORDER.name
    assert [(field.name, field.schema.type) for field in chunk.schema.fields] == [
        (field.name, field.schema.type) for field in ORDER.fields
    ]
