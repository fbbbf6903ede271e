"""Partitions of Python data sources as units; another package has the classes."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from copycat_connect.errors import ConfigError, ConnectError
from copycat_connect.plugin import SparkUnit
from copycat_objects.spark.connector import SparkSourceConnector
from copycat_objects.spark.task import SparkFilesTask
from copycat_testkit.conformance.contexts import FakeSourceContext

MODULE = """
from dataclasses import dataclass
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import LongType, StructField, StructType


@dataclass
class Part(InputPartition):
    first: int


class Reader(DataSourceReader):
    def __init__(self, schema, options):
        assert isinstance(schema, StructType)
        self._kind, self._parts = options["KIND"], options["parts"]

    def partitions(self):
        if self._kind == "nothing":
            raise NotImplementedError
        if self._kind == "objects":
            return [InputPartition(object())]
        if self._kind == "twins":
            return [Part(1), Part(1)]
        return [Part(int(each) * 10) for each in open(self._parts)]

    def read(self, partition):
        return iter([(partition.first,)])


class Numbers(DataSource):
    @classmethod
    def name(cls):
        return "numbers"

    def schema(self):
        return StructType([StructField("id", LongType())])

    def reader(self, schema):
        return Reader(schema, self.options)


class Other:
    pass
"""
NUMBERS = "copycat_test_source.Numbers"


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a package with a source."""
    (tmp_path / "copycat_test_source.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("copycat_test_source", None)


def planned(tmp_path: Path, kind: str, numbers: str = "") -> list[SparkUnit]:
    """What a task plans first, and again when there is more."""
    parts = tmp_path / "parts"
    parts.write_text(numbers)
    options = {"spark.option.kind": kind, "spark.option.parts": str(parts)}
    given = {"topic": "t", "format": NUMBERS, "object.poll.interval.ms": "1", **options}
    task = SparkFilesTask()
    task.initialize(FakeSourceContext(given))
    task.start(given)
    units = task.plan()
    parts.write_text(f"{numbers}9\n")
    while kind == "parts" and len(units) <= len(numbers.split()):
        units += task.plan()
    return units


def test_each_partition_is_a_unit_known_by_its_text_and_new_ones_follow(tmp_path: Path) -> None:
    units = planned(tmp_path, "parts", "1\n2\n")
    texts = ["Part(first=10)", "Part(first=20)", "Part(first=90)"]
    assert [unit.partition for unit in units] == [{"source": NUMBERS, "partition": each} for each in texts]
    assert [pickle.loads(unit.content.pickled).first for unit in units] == [10, 20, 90]  # noqa: S301
    assert all(unit.is_whole and unit.size is None for unit in units)
    task = SparkFilesTask()
    task.open({"topic": "t", "format": NUMBERS})
    end = task.end_of(units[0], {"record": 7, "done": False})
    assert end == {"record": 7, "done": True}
    assert [task.is_done(units[0], each) for each in (None, {"record": 7, "done": False}, end)] == [
        False,
        False,
        True,
    ]


def test_a_source_without_partitions_is_one_as_it_is_to_spark(tmp_path: Path) -> None:
    for kind in ("nothing", "parts"):
        assert planned(tmp_path, kind)[0].partition["partition"] == "InputPartition(value=None)"


@pytest.mark.parametrize("kind", ["objects", "twins"])
def test_partitions_that_cannot_be_known_again_are_refused(tmp_path: Path, kind: str) -> None:
    with pytest.raises(
        ConnectError, match=r"cannot be known again by their texts, such as .*: give the class"
    ):
        planned(tmp_path, kind)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("csw", "expected parquet, orc, .*, or the class of a Python data source, package.module.Class"),
        (
            "copycat_no_such.Source",
            r"has no such Python class \(No module named 'copycat_no_such'\): install",
        ),
        ("copycat_test_source.Missing", "has no such Python class"),
        ("copycat_test_source.Other", "is not derived from pyspark.sql.datasource.DataSource"),
    ],
)
def test_a_class_that_is_no_source_is_refused_at_creation(name: str, says: str) -> None:
    with pytest.raises(ConfigError, match=f"Invalid value {name} for configuration format: .*{says}"):
        SparkSourceConnector().start({"topic": "t", "format": name})
    errors = [
        each
        for value in SparkSourceConnector().validate({"topic": "t", "format": name})
        for each in value.errors
    ]
    assert len(errors) == 1


def test_a_source_needs_no_store_and_its_offsets_are_checked() -> None:
    connector, config = SparkSourceConnector(), {"topic": "t", "format": NUMBERS}
    assert not [error for each in connector.validate(config) for error in each.errors]
    place: dict[str, Any] = {"source": NUMBERS, "partition": "Part(first=10)"}
    assert connector.alter_offsets(config, [(place, {"record": 3, "done": False}), (place, None)])
    for partition, offset in (
        ({"source": NUMBERS}, None),
        (place, {"record": -1, "done": False}),
        (place, {"record": 1}),
    ):
        with pytest.raises(ConnectError, match=r"The (partition|offset) has the keys"):
            connector.alter_offsets(config, [(partition, offset)])
