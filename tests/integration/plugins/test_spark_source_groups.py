"""Small files that Spark reads in groups: what arrives, the offset of each file, and kills in between."""

from __future__ import annotations

import json
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from copycat_testkit.kafka import unique, wait_until

from tests.integration.plugins.spark_lake import SECONDS, Lake

pytestmark = [pytest.mark.timeout(500), pytest.mark.long]
SPARK = {"connector.class": "SparkSource", "tasks.max": "2"}
PLAIN = {"value.converter.schemas.enable": "false"}
#: What Spark writes in another way in the addresses of files.
NAMES = ("a b", "a%20b", "wörd", "a+b", "[1]{2}", "x=1/part", "q?*", "plain")


def put_files(lake: Lake, files: int, rows: int) -> None:
    """Write Parquet files, every third with other columns, under names of every kind."""
    for number in range(files):
        ids = range(number * rows, (number + 1) * rows)
        columns = {"id": ids, **({"word": [f"w{each}" for each in ids]} if number % 3 else {})}
        file = lake.folder / f"{NAMES[number % len(NAMES)]}-{number:04}.parquet"
        file.parent.mkdir(exist_ok=True)
        pq.write_table(pa.table(columns), file)


def test_small_parquet_files_arrive_as_object_source_sends_them_each_with_its_offset(lake: Lake) -> None:
    name, other, files, rows = unique("spark"), unique("object"), 120, 20
    put_files(lake, files, rows)
    pq.write_table(pa.table({"id": pa.array([], pa.int64())}), lake.folder / "empty.parquet")
    lake.put(name, **SPARK, format="parquet")
    lake.put(other, **{"connector.class": "ObjectSource"})
    found = lake.waits_for(name, files * rows)
    assert Counter(found) == Counter(lake.waits_for(other, files * rows))
    wait_until(lambda: len(lake.done(name)) == files + 1, SECONDS, "all files are committed")
    assert sorted(lake.done(name)) == [0, *[rows] * files]
    for each in (name, other):
        lake.ask("DELETE", each)


def test_small_files_of_other_formats_are_read_as_each_alone_would_be(lake: Lake) -> None:
    name = unique("spark")
    for number in range(12):
        word = "word" if number % 2 else "text"
        (lake.folder / f"{number}.csv").write_text(f"id,{word}\n{number},a\n{number},{number}\n", "utf-8")
        (lake.folder / f"{number}.json").write_text(f'{{"id":{number}}}\n{{"{word}":"x"}}\n', "utf-8")
        (lake.folder / f"{number}.txt").write_text(f"{number}\n\nlast\n", "utf-8")
    words = ["word" if number % 2 else "text" for number in range(12)]
    csv = {"spark.option.header": "true"}
    expected: dict[str, tuple[dict[str, str], list[object]]] = {
        "csv": (
            csv,
            [{"id": str(n), w: v} for n, w in enumerate(words) for v in ("a", str(n))],
        ),
        "json": (
            {},
            [row for n, w in enumerate(words) for row in ({"id": n, w: None}, {"id": None, w: "x"})],
        ),
        "text": ({}, [value for n in range(12) for value in (str(n), "", "last")]),
    }
    for kind, (options, values) in expected.items():
        topic, pattern = f"{name}-{kind}", rf".*\.{'txt' if kind == 'text' else kind}"
        lake.put(name, **SPARK, **PLAIN, **options, topic=topic, format=kind, pattern=pattern)
        found = [json.loads(value) for value in lake.waits_for(topic, len(values))]
        assert Counter(map(str, found)) == Counter(map(str, values)), kind
    lake.ask("DELETE", name)


def test_sql_sees_the_rows_of_each_file_of_a_group(lake: Lake) -> None:
    name, files, rows = unique("spark"), 40, 10
    for number in range(files):
        (lake.folder / f"{number}.txt").write_text("".join(f"{number} {row}\n" for row in range(rows)))
    query = {
        "sql": "SELECT CAST(split(value, ' ')[1] AS INT) AS row FROM records WHERE value LIKE '% _'",
        "key.expression": "split(value, ' ')[0]",
        "headers.expression.file": "_metadata.file_name",
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    }
    lake.put(name, **SPARK, **PLAIN, **query, format="text")
    lake.waits_for(name, files * rows)
    found = Counter(
        (int(each.key() or b""), dict(each.headers() or [])["file"], json.loads(each.value() or b"")["row"])
        for each in lake.records(name)
    )
    assert found == Counter(
        (number, f"{number}.txt".encode(), row) for number in range(files) for row in range(rows)
    )
    lake.ask("DELETE", name)


def test_groups_arrive_exactly_once_though_driver_and_partition_are_killed(lake: Lake) -> None:
    name, files, rows = unique("spark"), 240, 500
    put_files(lake, files, rows)
    exact = {"delivery.guarantee": "exactly_once", "transaction.boundary.interval.ms": "300"}
    lake.put(name, **SPARK, **PLAIN, **exact, format="parquet")
    for done, what in ((1, "partition"), (50, "driver"), (120, "driver")):
        wait_until(lambda: len(lake.done(name)) >= done, SECONDS, f"{done} files are done")  # noqa: B023
        assert len(lake.done(name)) < files
        lake.kill(what)
    wait_until(lambda: len(lake.done(name)) == files, SECONDS, "all files are done")
    assert lake.done(name) == [rows] * files
    found = [json.loads(value)["id"] for value in lake.values(name)]
    assert Counter(found) == Counter(range(files * rows))
    lake.ask("DELETE", name)
