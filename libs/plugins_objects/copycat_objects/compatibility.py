"""What a change of the records' schema means for the files that are open."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from copycat_connect.data import ConnectValue, Schema, SchemaType
from copycat_connect.data.projection import project
from copycat_connect.errors import DataError


class Compatibility(Enum):
    """Which schemas go into one file."""

    NONE = "NONE"
    """Only equal ones."""
    BACKWARD = "BACKWARD"
    """Older ones too, whose records are written as the newer schema has them."""
    FORWARD = "FORWARD"
    """Newer ones too, whose records are written as the older schema has them."""
    FULL = "FULL"
    """Like BACKWARD."""

    def rotates(self, current: Schema | None, record: Schema | None) -> bool:
        """Return whether a record of another schema begins new files.

        Raises:
            DataError: Only one of both has a schema, or there are no versions to compare.
        """
        if current is record or current == record:
            return False
        if current is None or record is None:
            raise DataError("Switch between schema-based and schema-less data is not supported")
        if self is Compatibility.NONE:
            return True
        if _differs(record, current):
            return True
        if current.version is None or record.version is None:
            raise DataError(
                f"Schema version required for 'schema.compatibility={self.value}': give schemas a version "
                "or set it to NONE"
            )
        if self is Compatibility.FORWARD:
            return record.version < current.version
        return record.version > current.version


def projected(
    source: Schema | None, values: Sequence[ConnectValue], target: Schema | None
) -> list[ConnectValue]:
    """Return values as the schema of the file has them.

    Raises:
        DataError: One of them cannot be written so.
    """
    if source is target or source == target:
        return list(values)
    return [project(source, value, target) for value in values]


def _differs(source: Schema, target: Schema) -> bool:
    """Return whether records of a schema cannot be written as the other one has them."""
    if source.type is not target.type or source.name != target.name or source.parameters != target.parameters:
        return True
    if source.optional and not target.optional and target.default is None:
        return True
    if source.type is SchemaType.STRUCT:
        return any(_field_differs(source, field.name, field.schema) for field in target.field_list)
    pairs = ((source.key, target.key), (source.value, target.value))
    return any(one is not None and other is not None and _differs(one, other) for one, other in pairs)


def _field_differs(source: Schema, name: str, wanted: Schema) -> bool:
    found = source.field(name)
    if found is None:
        return not wanted.optional and wanted.default is None
    return _differs(found.schema, wanted)
