"""A Python data source of Spark as others write them: each line of a file is a partition."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition


class Numbers(DataSource):
    """Numbers, as many from a first one on as a line says."""

    @classmethod
    def name(cls) -> str:
        """Return what Spark calls it."""
        return "numbers"

    def schema(self) -> str:
        """Return the columns."""
        return "number INT"

    def reader(self, schema: Any) -> DataSourceReader:
        """Return what reads the file that an option names."""
        assert set(self.options) == {"file"}
        return _NumbersReader(Path(self.options["FILE"]), schema.names)


class _NumbersReader(DataSourceReader):
    def __init__(self, file: Path, names: list[str]) -> None:
        self._file, self._names = file, names

    def partitions(self) -> list[InputPartition]:
        lines = self._file.read_text().splitlines() if self._file.exists() else []
        return [InputPartition(line) for line in lines]

    def read(self, partition: InputPartition) -> Iterator[tuple[int]]:
        assert self._names == ["number"]
        if partition.value is None:  # as Spark has it where there are no partitions
            return iter(())
        first, count = map(int, partition.value.split())
        return ((number,) for number in range(first, first + count))
