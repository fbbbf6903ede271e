"""Which tables there are, by what JDBC's drivers call their types and by patterns of names."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from sqlalchemy.engine import Connection

#: What PostgreSQL's JDBC driver calls the relations of users, by how the catalogs mark them.
_KINDS: Final = {
    "TABLE": "r",
    "PARTITIONED TABLE": "p",
    "VIEW": "v",
    "MATERIALIZED VIEW": "m",
    "FOREIGN TABLE": "f",
}
_SYSTEM_KINDS: Final = {"SYSTEM TABLE": "r", "SYSTEM VIEW": "v"}
_RELATIONS: Final = (
    "SELECT n.nspname, c.relname, c.relkind::text FROM pg_catalog.pg_class c "
    "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
    "WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_(toast|temp)' "
    "AND has_table_privilege(c.oid, 'SELECT') ORDER BY n.nspname, c.relname"
)


def like(name: str, pattern: str) -> bool:
    r"""Return whether a name is like a pattern.

    `%` is any text and `_` one character, but for those behind `\`.
    """
    parts = [""]
    for each in re.findall(r"\\.|.", pattern, re.DOTALL):
        if each == "%":
            parts.append("")
        else:
            parts[-1] += "." if each == "_" else re.escape(each[-1])
    # What stands between two % is best found as early as possible, so nothing is tried twice.
    first, *others = parts
    between = "".join(f"(?>.*?{each})" for each in others[:-1])
    expression = first + between + "".join(f".*{each}" for each in others[-1:])
    return re.fullmatch(expression, name, re.DOTALL) is not None


def tables_of_postgresql(
    connection: Connection, kinds: Collection[str], catalog: str | None, schema: str | None
) -> list[tuple[str, str]]:
    """Return schema and name of the relations that may be read, in order.

    Raises:
        SQLAlchemyError: They cannot be listed.
    """
    here = connection.engine.url.database or ""
    if catalog is not None and not like(here, catalog):
        return []
    found = connection.exec_driver_sql(_RELATIONS).all()
    users = {_KINDS[kind] for kind in kinds if kind in _KINDS}
    system = {_SYSTEM_KINDS[kind] for kind in kinds if kind in _SYSTEM_KINDS}
    return [
        (space, name)
        for space, name, kind in found
        if kind in (system if _is_systems(space) else users) and (schema is None or like(space, schema))
    ]


def _is_systems(schema: str) -> bool:
    return schema in ("pg_catalog", "information_schema")
