"""Rows that change a table by key: what partitions of Spark write of records, and which of them counts.

Beside the table's columns such rows have two of their own, the record's offset and whether it deletes. Of
rows with one key the one with the highest offset counts: records of one key have one partition of a topic.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from operator import is_
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from copycat_connect.data import SchemaType
from copycat_connect.errors import DataError

from copycat_objects.spark_sink.table_rows import ColumnTypes, RecordRun, columns_of_schema

OFFSET, DELETED = "__offset", "__deleted"
OWN: Final = (OFFSET, DELETED)
_PLACE: Final = "place"


class KeyedRows:
    """Makes rows that insert, change or delete (`RowMaker`)."""

    def __init__(self, types: ColumnTypes, keys: Sequence[str], *, of_value: bool, deletes: bool) -> None:
        """Choose where keys are.

        Args:
            types: The types of the table's columns.
            keys: Fields of the key, or the name of a key that is no struct; with `of_value` of the value.
            of_value: Whether the value has them.
            deletes: Whether records without a value delete.
        """
        self._types, self._keys = types, keys
        self._of_value = of_value
        self.takes_nulls = deletes

    def kinds(self, run: RecordRun) -> Sequence[object]:
        """Return the schemas of the values and of the keys that have the columns."""
        batch = run.batch
        if self._of_value:
            return batch.value_schemas
        return [
            *zip(batch.value_schemas, batch.key_schemas, map(is_, batch.values, repeat(None)), strict=True)
        ]

    def make(self, run: RecordRun) -> pa.RecordBatch:
        """Return rows of records of one kind.

        Raises:
            DataError: A record has no key, or does not fit its schema or the table.
        """
        columns: dict[str, pa.Array] = {}
        first = run.places[0]
        is_deleted = run.values[0] is None
        if not is_deleted:
            columns |= _named(columns_of_schema(run.batch.value_schemas[first]).rows(run.values, self._types))
        if not self._of_value:
            columns |= self._key_columns(run, first)
        for name in self._keys:
            if name not in columns or columns[name].null_count:
                raise DataError(
                    f"The record has no {name}, which is of the key of the table's rows (pk.fields)"
                )
        offsets = run.batch.positions.offsets
        columns[OFFSET] = pa.array([offsets[place] for place in run.places], pa.int64())
        columns[DELETED] = pa.array([is_deleted] * len(run.places), pa.bool_())
        return pa.RecordBatch.from_pydict(columns)

    def _key_columns(self, run: RecordRun, first: int) -> dict[str, pa.Array]:
        schema = run.batch.key_schemas[first]
        keys = [run.batch.keys[place] for place in run.places]
        if any(map(is_, keys, repeat(None))):
            raise DataError("The record has no key, which is that of the table's row (pk.mode=record_key)")
        if schema is not None and schema.type is SchemaType.STRUCT:
            found = _named(columns_of_schema(schema).rows(keys, self._types))
            return {name: found[name] for name in self._keys if name in found}
        if len(self._keys) != 1:
            raise DataError("The record's key is no struct: pk.fields has to be one name, that of its column")
        (name,) = self._keys
        return {name: columns_of_schema(schema).column(name, keys, self._types)}


def newest(tables: Sequence[pa.Table], keys: Sequence[str]) -> pa.Table:
    """Return of rows with one key the one with the highest offset."""
    rows = pa.concat_tables(tables, promote_options="default")
    order: Any = pc.sort_indices(rows, sort_keys=[(OFFSET, "ascending")])
    rows = rows.take(order)
    places = rows.select(list(keys)).append_column(_PLACE, pa.array(range(rows.num_rows), pa.int64()))
    last = places.group_by(list(keys), use_threads=False).aggregate([(_PLACE, "max")])
    return rows.take(last[f"{_PLACE}_max"])


def _named(rows: pa.RecordBatch) -> dict[str, pa.Array]:
    return dict(zip(rows.schema.names, rows.columns, strict=True))
