"""How far a Delta table is read: its source partition and offset, and the contents of marks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from copycat_connect.errors import ConnectError
from copycat_connect.plugin.contexts import SourceOffset

from copycat_objects.source.settings import DONE, STORE

TABLE, VERSION = "table", "version"
"""Keys of the source partition and the source offset of a table."""


@dataclass(frozen=True, slots=True, order=True)
class TableVersion:
    """How far a table is read: the content of a mark."""

    version: int
    """The version."""
    done: bool
    """Whether all records up to it are committed; else reading its files has begun."""


@dataclass(frozen=True, slots=True)
class TableTrouble:
    """Why a table cannot be followed any further: the content of a mark, behind what can be read."""

    text: str
    """What users read."""


def is_read(mark: TableVersion | TableTrouble, offset: SourceOffset | None) -> bool:
    """Return whether the committed offset of a table is that of a mark, or a later one."""
    if isinstance(mark, TableTrouble) or offset is None:
        return False
    return TableVersion(int(offset[VERSION]), bool(offset[DONE])) >= mark


def check_table_offset(partition: Mapping[str, Any], offset: SourceOffset | None) -> None:
    """Accept the offset of a table.

    Raises:
        ConnectError: It is malformed.
    """
    if set(partition) != {STORE, TABLE} or not all(isinstance(each, str) for each in partition.values()):
        raise ConnectError(f"The partition of a table has the keys '{STORE}' and '{TABLE}', both Strings")
    if offset is None:
        return
    version, done = offset.get(VERSION), offset.get(DONE)
    if set(offset) != {VERSION, DONE} or not isinstance(version, int) or not isinstance(done, bool):
        raise ConnectError(
            f"The offset of a table has the keys '{VERSION}', a number from 0 up, and '{DONE}', true or false"
        )
    if isinstance(version, bool) or version < 0:
        raise ConnectError(f"The value for the '{VERSION}' key in the offset should be a number from 0 up")
