"""Readers of files of records: values, and reading on from the place after any of them."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from copycat_connect.data import ConnectValue, Schema, Struct, StructColumns
from copycat_connect.errors import DataError
from copycat_json.converter import JsonConverter
from copycat_objects.formats.csv_reader import CsvOptions
from copycat_objects.formats.opening import format_of, open_reader
from copycat_objects.formats.reader import START, Chunk, RecordPlace
from copycat_objects.stores.opening import open_store

AVRO = {
    "type": "record",
    "name": "shop.Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "note", "type": ["null", "string"]},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
}


COMMAS = CsvOptions()


def read(
    file: Path, start: RecordPlace = START, options: CsvOptions = COMMAS
) -> tuple[list[ConnectValue], list[RecordPlace], Schema | None]:
    """Read a whole file three records at a time."""
    store = open_store({}, str(file.parent))
    stored = store.find(file.name)
    kind = format_of(file.name)
    assert stored is not None
    assert kind is not None
    reader = open_reader(store, stored, kind, start, options)
    values: list[ConnectValue] = []
    places: list[RecordPlace] = []
    is_last = False
    while not is_last:
        chunk = reader.read(3)
        values += chunk.values
        places += chunk.places()
        is_last, schema = chunk.is_last, chunk.schema
    reader.close()
    return values, places, schema


def parquet(rows: int) -> bytes:
    out = io.BytesIO()
    table = pa.table({"n": pa.array(range(rows), pa.int32()), "s": [f"é{n}" for n in range(rows)]})
    pq.write_table(table, out, row_group_size=4)
    return out.getvalue()


def avro(rows: int) -> bytes:
    out = io.BytesIO()
    records = [{"id": n, "note": None if n % 2 else "x", "at": n * 1000} for n in range(rows)]
    fastavro.writer(out, AVRO, records, codec="deflate", sync_interval=20)
    return out.getvalue()


def zstd(content: bytes) -> bytes:
    return bytes(pa.compress(content, "zstd", asbytes=True))


JSON = b'{"n":1,"t":"\xc3\xa9"}\n{"n":2}\n\n{"n":3}\n \n{"n":4}\n{"n":5}'
CSV = '\ufeffa,b\n1,"x\ny"\n2,"say ""so"""\n\n3,\n4,é'.encode()
FILES: dict[str, tuple[bytes, int]] = {
    "x.parquet": (parquet(11), 11),
    "x.avro": (avro(11), 11),
    "x.json": (JSON, 5),
    "x.jsonl.gz": (gzip.compress(JSON[:9]) + gzip.compress(JSON[9:]), 5),
    "x.ndjson.zst": (zstd(JSON), 5),
    "x.csv": (CSV, 4),
    "x.csv.gz": (gzip.compress(CSV), 4),
    "x.txt": (b"one\r\ntwo\n\nfour\nfive", 5),
    "x.bin": (b"one\r\n\xff\xfe\n\nfour\n", 4),
}


@pytest.mark.parametrize("name", list(FILES))
def test_reading_goes_on_after_any_record(tmp_path: Path, name: str) -> None:
    content, count = FILES[name]
    (tmp_path / name).write_bytes(content)
    values, places, _ = read(tmp_path / name)
    assert len(values) == len(places) == count
    for place, after in enumerate(places, 1):
        assert read(tmp_path / name, after)[0] == values[place:]
        assert read(tmp_path / name, RecordPlace(after.record))[0] == values[place:]


@pytest.mark.parametrize("name", ["x.json", "x.csv", "x.txt", "x.csv.gz", "x.bin"])
def test_an_empty_file_has_no_records(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(gzip.compress(b"") if name.endswith("gz") else b"")
    assert read(tmp_path / name)[:2] == ([], [])


def test_every_type_of_parquet_becomes_connects(tmp_path: Path) -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)
    columns = {
        "i8": pa.array([1, None], pa.int8()),
        "u64": pa.array([2**64 - 1, 0], pa.uint64()),
        "f16": pa.array([1.5, None], pa.float16()),
        "dec": pa.array([Decimal("1.25"), None], pa.decimal128(10, 2)),
        "date": pa.array([date(2026, 1, 2), None]),
        "time": pa.array([time(1, 2, 3), None], pa.time64("us")),
        "at": pa.array([moment, None], pa.timestamp("us", tz="UTC")),
        "local": pa.array([moment.replace(tzinfo=None), None], pa.timestamp("ns")),
        "bytes": pa.array([b"\0", None]),
        "word": pa.array(["a", "a"]).dictionary_encode(),
        "list": pa.array([[1, None], None]),
        "map": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())),
        "struct": pa.array([{"x": 1, "y": [{"z": "q"}]}, None]),
        "nothing": pa.nulls(2),
    }
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    values, _, schema = read(tmp_path / "x.parquet")
    assert schema is not None
    for value in values:
        assert isinstance(value, Struct)
        assert value.schema is schema
        value.validate()
    first, second = (dict(zip(columns, value.values, strict=True)) for value in values)
    assert [*first.values()][:9] == [
        1, Decimal(2**64 - 1), 1.5, Decimal("1.25"), date(2026, 1, 2), time(1, 2, 3), moment, moment, b"\0",
    ]  # fmt: skip
    assert (first["word"], first["list"], first["map"]) == ("a", [1, None], {"k": 1})
    assert str(first["struct"]) == "Struct{x=1,y=[Struct{z=q}]}"
    assert [name for name, value in second.items() if value is not None] == ["u64", "word"]


def test_columns_of_parquet_become_the_json_that_its_values_become(tmp_path: Path) -> None:
    days = [0, -800_000, None, 9_000_000]  # two of them beyond the years that Python's dates have
    columns = {
        "day": pa.array(days, pa.int32()).cast(pa.date32()),
        "days": pa.array([1, 1, 2, 1], pa.int32()).cast(pa.date32()).dictionary_encode(),
        "time": pa.array([0, 1, None, 86_399_999], pa.int32()).cast(pa.time32("ms")),
        "at": pa.array([0, -1, None, 1 << 45], pa.int64()).cast(pa.timestamp("ms", tz="UTC")),
        "price": pa.array([Decimal("1.25"), None, Decimal("-0.01"), Decimal(0)], pa.decimal128(10, 2)),
        "word": pa.array(["a", None, "é", ""]),
    }
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    (chunk,) = chunks(tmp_path / "x.parquet")
    assert isinstance(chunk.values, StructColumns)
    converter = JsonConverter()
    converter.configure({}, is_key=False)
    together = converter.from_connect_batch("t", chunk.schema, chunk.values)
    assert together == [converter.from_connect("t", None, chunk.schema, each) for each in [*chunk.values]]
    assert b'"day":9000000,' in (together[3] or b"")


def test_avro_keeps_its_names_and_logical_types(tmp_path: Path) -> None:
    (tmp_path / "x.avro").write_bytes(avro(2))
    values, _, schema = read(tmp_path / "x.avro")
    assert schema is not None
    assert schema.name == "shop.Order"
    assert [value.values for value in values if isinstance(value, Struct)] == [
        [0, "x", datetime(1970, 1, 1, tzinfo=UTC)],
        [1, None, datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)],
    ]


def test_csv_takes_other_characters_and_no_header(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("1;'a;b'\n2;c\n")
    values, places, schema = read(
        tmp_path / "x.csv", options=CsvOptions(separator=";", quote="'", header=False)
    )
    assert schema is not None
    assert [field.name for field in schema.field_list] == ["column1", "column2"]
    assert [value.values for value in values if isinstance(value, Struct)] == [["1", "a;b"], ["2", "c"]]
    assert places == [RecordPlace(1, 8), RecordPlace(2, 12)]


def test_large_numbers_are_read_as_the_json_converter_reads_them(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(f'{{"n":{2**64 + 5}}}\n{{"n":-0.0}}\n')
    assert read(tmp_path / "x.json")[0] == [{"n": 5}, {"n": 0.0}]


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("x.parquet", b"PAR1 and no more", "It is no Parquet file, or broken"),
        ("x.parquet", parquet(9)[:-20] + b"x" * 20, "It is no Parquet file, or broken"),
        ("x.avro", b"Obj", "It is no Avro file"),
        ("x.avro", avro(9)[:-5], "broken behind record [1-9]"),
        ("x.csv", b"a,a\n1,2\n", "Several columns are named a"),
        ("x.json.gz", gzip.compress(b'{"n":1}\n' * 99, mtime=0)[:-9], "What is compressed is broken"),
        ("x.json.zst", zstd(b'{"n":1}\n' * 99)[:-9], "What is compressed is broken"),
    ],
)
def test_a_file_that_is_broken_is_told_with_the_place(
    tmp_path: Path, name: str, content: bytes, text: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=text):
        read(tmp_path / name)


def chunks(file: Path) -> list[Chunk]:
    """Read a whole file in chunks of four records."""
    store = open_store({}, str(file.parent))
    stored, kind = store.find(file.name), format_of(file.name)
    assert stored is not None
    assert kind is not None
    reader = open_reader(store, stored, kind, START, COMMAS)
    found = [reader.read(4)]
    while not found[-1].is_last:
        found.append(reader.read(4))
    reader.close()
    return found


def avro_with_bad_values() -> bytes:
    """Write bytes and numbers, and say that they are texts and times of a day."""

    def schema(word: str, at: object) -> dict[str, object]:
        fields = [
            {"name": "n", "type": "int"},
            {"name": "s", "type": ["null", word]},
            {"name": "at", "type": at},
        ]
        return {"type": "record", "name": "Held", "fields": fields}

    mark, head, written = b"m" * 16, io.BytesIO(), io.BytesIO()
    records = [{"n": n, "s": b"\xff" if n == 3 else b"fine", "at": -5 if n == 7 else 5} for n in range(10)]
    fastavro.writer(
        head, schema("string", {"type": "int", "logicalType": "time-millis"}), [], sync_marker=mark
    )
    fastavro.writer(written, schema("bytes", "int"), records, sync_interval=60, sync_marker=mark)
    return head.getvalue() + written.getvalue().partition(mark)[2]


def test_one_bad_value_of_avro_fails_its_record_alone(tmp_path: Path) -> None:
    (tmp_path / "x.avro").write_bytes(avro_with_bad_values())
    found = chunks(tmp_path / "x.avro")
    values = [value for chunk in found for value in chunk.values]
    assert [place.record for chunk in found for place in chunk.places()] == [*range(1, 11)]
    fourth, eighth = [str(error) for chunk in found for error in chunk.unreadable.values()]
    assert fourth.startswith("Record 4 cannot be read: UnicodeDecodeError")
    assert eighth.startswith("Record 8 cannot be read: Time values must")
    assert [type(values[3]), type(values[7])] == [bytes, bytes]
    good = [value.values[0] for value in values if isinstance(value, Struct)]
    assert good == [0, 1, 2, 4, 5, 6, 8, 9]


def test_one_bad_value_of_parquet_fails_its_row_alone(tmp_path: Path) -> None:
    words = pa.array([b"\xff\xfe" if n == 3 else b"fine" for n in range(10)], pa.binary())
    table = pa.table({"n": range(10), "s": words.view(pa.string())})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=5)
    found = chunks(tmp_path / "x.parquet")
    values = [value for chunk in found for value in chunk.values]
    (wrong,) = [str(error) for chunk in found for error in chunk.unreadable.values()]
    assert wrong.startswith("Record 4, column s, cannot be read: UnicodeDecodeError")
    assert values[3] == '{"n": "3"}'
    assert [value.values[0] for value in values if isinstance(value, Struct)] == [0, 1, 2, *range(4, 10)]


def test_a_time_of_parquet_beyond_the_day_fails_its_row_alone(tmp_path: Path) -> None:
    times = pa.array([1, 86_400_000, 3], pa.int32()).cast(pa.time32("ms"))
    pq.write_table(pa.table({"n": range(3), "at": times}), tmp_path / "x.parquet")
    (chunk,) = chunks(tmp_path / "x.parquet")
    assert [place for place, value in enumerate(chunk.values) if isinstance(value, Struct)] == [0, 2]
    assert "Record 2, column at, cannot be read" in str(chunk.unreadable[1])


#: Prints by how many bytes the most memory that a process has held grows while it reads a second file.
READ_TWO = """
import sys
from pathlib import Path
from copycat_objects.formats.csv_reader import CsvOptions
from copycat_objects.formats.opening import format_of, open_reader
from copycat_objects.formats.reader import START
from copycat_objects.stores.opening import open_store

def read(file):
    store = open_store({}, str(file.parent))
    reader = open_reader(store, store.find(file.name), format_of(file.name), START, CsvOptions())
    while not reader.read(1000).is_last:
        pass
    reader.close()
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024

small, large = map(Path, sys.argv[1:])
print(-read(small) + read(large))
"""


@pytest.mark.parametrize("name", ["parquet", "json"])
def test_a_large_file_is_read_with_little_memory(tmp_path: Path, name: str) -> None:
    """Eighty megabytes, of Parquet in one row group, cost less than half of that."""
    small, large = tmp_path / f"small.{name}", tmp_path / f"large.{name}"
    for file, rows in ((small, 2), (large, 80_000)):
        texts = ["x" * 1000 + str(n) for n in range(rows)]
        if name == "parquet":
            table = pa.table({"n": range(rows), "t": texts})
            pq.write_table(table, file, compression="none", use_dictionary=False, row_group_size=rows)
        else:
            file.write_text("".join(json.dumps({"n": n, "t": text}) + "\n" for n, text in enumerate(texts)))
    command = [sys.executable, "-c", READ_TWO, str(small), str(large)]
    grown = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert grown < 40 << 20
