"""The object source passes the suite every source passes, in each format."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from copycat_connect.data import (
    INT64_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    ConnectValue,
    Schema,
    SchemaBuilder,
    Struct,
)
from copycat_connect.plugin import CONNECTORS, PluginSpec, load_plugins
from copycat_testkit.conformance import SourceConformance

Row = dict[str, object]


def _schema(id_schema: Schema, word: Schema, name: str | None = None) -> Schema:
    builder = SchemaBuilder.struct().field("id", id_schema).field("word", word)
    return (builder.name(name) if name else builder).build()


AVRO = {
    "type": "record",
    "name": "Row",
    "fields": [{"name": "id", "type": "long"}, {"name": "word", "type": ["null", "string"]}],
}
COLUMNS = _schema(OPTIONAL_INT64_SCHEMA, OPTIONAL_STRING_SCHEMA)
RECORDS = _schema(INT64_SCHEMA, OPTIONAL_STRING_SCHEMA, "Row")
TEXTS = _schema(STRING_SCHEMA, STRING_SCHEMA)


def _parquet(rows: Sequence[Row]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([*rows]), out, row_group_size=2)
    return out.getvalue()


def _avro(rows: Sequence[Row]) -> bytes:
    out = io.BytesIO()
    fastavro.writer(out, AVRO, rows, codec="deflate", sync_interval=20)
    return out.getvalue()


def _json(rows: Sequence[Row]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _csv(rows: Sequence[Row]) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, ["id", "word"])
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def _text(rows: Sequence[Row]) -> bytes:
    return "\r\n".join(str(row["word"]).replace("\n", " ") for row in rows).encode()


def _struct(schema: Schema) -> Callable[[Row], ConnectValue]:
    return lambda row: Struct(schema, {"id": row["id"], "word": row["word"]})


FORMATS: Mapping[str, tuple[Callable[[Sequence[Row]], bytes], Callable[[Row], ConnectValue]]] = {
    "parquet": (_parquet, _struct(COLUMNS)),
    "avro": (_avro, _struct(RECORDS)),
    "jsonl": (_json, dict),
    "json.gz": (lambda rows: gzip.compress(_json(rows)), dict),
    "csv": (_csv, lambda row: Struct(TEXTS, {"id": str(row["id"]), "word": row["word"]})),
    "txt": (_text, lambda row: str(row["word"]).replace("\n", " ")),
}


class TestObjectSource(SourceConformance):
    """Files of a folder, one for each time records are added."""

    @pytest.fixture(autouse=True, params=list(FORMATS))
    def _use(self, request: pytest.FixtureRequest, tmp_path: Path) -> None:
        self.end: str = request.param
        self.folder = tmp_path

    def spec(self) -> PluginSpec:
        """Return the object source."""
        return load_plugins().find("ObjectSource", CONNECTORS)

    def config(self) -> Mapping[str, str]:
        """Read the folder three records at a time."""
        return {
            "store.url": f"file://{self.folder}",
            "topic": "rows",
            "batch.size": "3",
            "object.poll.interval.ms": "20",
        }

    def feed(self, numbers: range) -> Sequence[ConnectValue]:
        """Add a file; it appears whole."""
        encode, expected = FORMATS[self.end]
        rows: list[Row] = [{"id": number, "word": f'word {number}\n"é😀"'} for number in numbers]
        half = self.folder / "_half"
        half.write_bytes(encode(rows))
        half.rename(self.folder / f"rows+0+{numbers[0]:010d}.{self.end}")
        return [expected(row) for row in rows]
