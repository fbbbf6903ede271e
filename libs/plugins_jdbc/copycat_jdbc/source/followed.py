"""The columns that a mode follows: they must be there, and as a rule never be null."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import types as sql
from sqlalchemy.engine.interfaces import ReflectedColumn

from copycat_jdbc.database import TableName
from copycat_jdbc.errors import WrongSetting
from copycat_jdbc.settings import spelling
from copycat_jdbc.source.settings import INCREMENTING_COLUMN, TIMESTAMP_COLUMNS, JdbcSourceSettings


def followed_number(
    settings: JdbcSourceSettings, table: TableName, columns: Sequence[ReflectedColumn], dialect: str
) -> str:
    """Return the incrementing column as the table spells it; empty where none is followed.

    Raises:
        WrongSetting: It does not exist, or may be null.
    """
    if not settings.follows_number:
        return ""
    if not settings.incrementing:
        counted = [each["name"] for each in columns if _is_counted(each, dialect)]
        if not counted:
            raise WrongSetting(
                f"Table {table} has no column that the database counts up itself: set "
                f"{INCREMENTING_COLUMN} to a column whose numbers only grow"
            )
        return counted[0]
    named = {each["name"]: each for each in columns}
    found = named.get(spelling(settings.incrementing, named, settings.folded) or "")
    if found is None:
        raise WrongSetting(
            f"Incrementing column: {settings.incrementing} does not exist in table '{table}' "
            f"({INCREMENTING_COLUMN})"
        )
    # What SQLite calls INTEGER PRIMARY KEY is never null, whatever else is said of it.
    if settings.validate_non_null and found["nullable"] and not _is_counted(found, dialect):
        raise WrongSetting(
            "Cannot make incremental queries using incrementing column "
            f"{settings.incrementing} on {table} because this column is nullable ({INCREMENTING_COLUMN})."
        )
    return found["name"]


def followed_times(
    settings: JdbcSourceSettings, table: TableName, columns: Sequence[ReflectedColumn]
) -> tuple[str, ...]:
    """Return the timestamp columns as the table spells them; none where none are followed.

    Raises:
        WrongSetting: One does not exist, or all may be null.
    """
    if not settings.follows_time:
        return ()
    nullable = {each["name"]: bool(each["nullable"]) for each in columns}
    found = {name: spelling(name, nullable, settings.folded) for name in settings.timestamps}
    missing = [name for name, spelt in found.items() if spelt is None]
    if missing:
        raise WrongSetting(
            f"Timestamp columns: {', '.join(missing)} do not exist in table '{table}' ({TIMESTAMP_COLUMNS})"
        )
    times = tuple(spelt for spelt in found.values() if spelt is not None)
    if settings.validate_non_null and all(nullable[spelt] for spelt in times):
        raise WrongSetting(
            f"Cannot make incremental queries using timestamp columns {', '.join(settings.timestamps)} "
            f"on {table} because all of these columns are nullable ({TIMESTAMP_COLUMNS})."
        )
    return times


def _is_counted(column: ReflectedColumn, dialect: str) -> bool:
    if not isinstance(column["type"], sql.Integer):
        return False
    if dialect == "sqlite":
        return bool(column.get("primary_key"))
    return column.get("autoincrement") is True or "identity" in column
