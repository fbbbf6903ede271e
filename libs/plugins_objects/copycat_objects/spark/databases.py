"""Tables of databases as Spark's JDBC reader has them: which keys there are, and frames of ranges of keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from copycat_connect.errors import ConnectError
from copycat_connect.plugin import SparkUnit
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

from copycat_objects.spark.key_ranges import (
    KeyContent,
    KeyLook,
    KeyPlan,
    KeyRange,
    TableKeys,
    end_offset,
    is_past,
)

DBTABLE, QUERY, DRIVER, URL = "dbtable", "query", "driver", "url"
"""Options of Spark's reader."""
#: What Spark calls types of keys; their numbers are days, microseconds or themselves.
_DATE, _TIMESTAMP, _DECIMAL = "date", "timestamp", "decimal"
_WHOLE: Final = frozenset({"byte", "short", "integer", "long", _DECIMAL})
#: Types of which rows cannot be sorted.
_UNSORTED: Final = frozenset({"map", "variant", "void"})
_FETCHED_ROWS: Final = "10000"


@dataclass(frozen=True, slots=True)
class DatabaseTable:
    """A table, or a query, of a database."""

    options: Mapping[str, str] = field(repr=False)
    """Spark's, by its names."""
    column: str
    """The column of the key."""
    unit_rows: int
    """About how many rows a range has."""
    follows: bool
    """Whether keys are looked for again."""

    def frame(self, session: Any, content: KeyLook | KeyRange) -> Any:  # noqa: ANN401 - PySpark's
        """Return the rows of a range, in the order of their keys; of a look none, once it has looked.

        Raises:
            ConnectError: The driver is missing, or the column is no key.
            Exception: Spark's.
        """
        check_driver(session, self.options[DRIVER], f"spark.option.{DRIVER}")
        rows = database_reader(session, self.options).load()
        kind = self._kind(rows)
        name = quoted(self.column)
        if isinstance(content, KeyLook):
            content.found = self._look(session, rows, kind, content)
            return _without_rows(session, rows)
        chosen = rows.where(f"{name} > {_literal(kind, content.after)}")
        chosen = chosen.where(f"{name} <= {_literal(kind, content.upto)}")
        # Equal keys have an order, too, as far as rows differ.
        others = [
            quoted(field.name)
            for field in rows.schema
            if field.name != self.column and field.dataType.typeName() not in _UNSORTED
        ]
        return chosen.sortWithinPartitions(name, *others)

    def _look(self, session: Any, rows: Any, kind: str, look: KeyLook) -> KeyPlan:  # noqa: ANN401 - PySpark's
        """Return the plan of the keys behind those of the plan before.

        Raises:
            ConnectError: Rows have no key, or keys between which others may come.
        """
        before = None if look.before is None else look.before.upto
        parts = {"lowest": "min({0})", "highest": "max({0})", "total": "count(*)", "keyed": "count({0})"}
        if before is None:
            found = self._of_all(session, parts)
        else:
            new = rows.where(f"{quoted(self.column)} > {_literal(kind, before)}")
            found = new.selectExpr(
                *(f"{part.format(quoted(self.column))} AS {name}" for name, part in parts.items())
            )
        lowest, highest, total, keyed, is_whole = found.selectExpr(
            _number(kind, "floor", "lowest"),
            _number(kind, "ceil", "highest"),
            "total",
            "keyed",
            f"highest = {_literal(kind, _number(kind, 'ceil', 'highest'))}",
        ).collect()[0]
        if total != keyed:
            raise ConnectError(
                f"{total - keyed} rows have no value in the column {self.column} (jdbc.partition.column), so "
                "that no range has them: name a column without nulls"
            )
        if not total:
            return KeyPlan(look.number, before, before, 1, done=True)
        if self.follows and not is_whole:
            raise ConnectError(
                f"The column {self.column} (jdbc.partition.column) has fractions, such as its highest value: "
                "jdbc.follow=true needs whole numbers, dates or timestamps"
            )
        after = int(lowest) - 1 if before is None else before
        width = max(1, -(-(int(highest) - after) * self.unit_rows // int(total)))
        return KeyPlan(look.number, after, int(highest), width)

    def _of_all(self, session: Any, parts: Mapping[str, str]) -> Any:  # noqa: ANN401 - PySpark's
        """Return what the database says of all keys, so that Spark need not fetch them."""
        dialect = session._jvm.org.apache.spark.sql.jdbc.JdbcDialects.get(self.options[URL])
        name = dialect.quoteIdentifier(self.column)
        given = {option.lower(): value for option, value in self.options.items()}
        table = given.get(DBTABLE) or f"({given[QUERY]}) copycat_rows"
        columns = ", ".join(f"{part.format(name)} AS {alias}" for alias, part in parts.items())
        left = {
            option: value for option, value in self.options.items() if option.lower() not in {DBTABLE, QUERY}
        }
        query = {**left, QUERY: f"SELECT {columns} FROM {table}"}  # noqa: S608 - all of it is of the administrator
        return session.read.format("jdbc").options(**query).load().toDF(*parts)

    def _kind(self, rows: Any) -> str:  # noqa: ANN401 - PySpark's
        """Return what Spark calls the type of the key.

        Raises:
            ConnectError: There is no such column, or none of its type has ranges.
        """
        kinds: dict[str, str] = {field.name: field.dataType.typeName() for field in rows.schema}
        if self.column not in kinds:
            raise ConnectError(
                f"There is no column {self.column} (jdbc.partition.column); there are {', '.join(kinds)}"
            )
        kind = kinds[self.column]
        if kind not in {*_WHOLE, _DATE, _TIMESTAMP}:
            raise ConnectError(
                f"The column {self.column} (jdbc.partition.column) is {kind}: ranges are those of whole "
                "numbers, decimals, dates and timestamps (without the option preferTimestampNTZ)"
            )
        return kind


def database_reader(session: Any, options: Mapping[str, str]) -> Any:  # noqa: ANN401 - PySpark's
    """Return Spark's reader of databases with options."""
    # Without a size, drivers such as that of PostgreSQL fetch all rows before the first is read.
    return session.read.format("jdbc").options(**{"fetchsize": _FETCHED_ROWS, **options})


def check_driver(session: Any, driver: str, key: str) -> None:  # noqa: ANN401 - PySpark's
    """Look for the class of a driver, which a key names, where Spark does.

    Raises:
        ConnectError: It is missing.
    """
    loader = session._jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader()
    if loader.getResource(f"{driver.replace('.', '/')}.class") is None:
        raise ConnectError(
            f"Spark has no class {driver} ({key}): name the jar of the database's JDBC driver in the worker "
            "property spark.jars, e.g. spark.jars=/opt/jars/postgresql.jar, and restart the worker"
        )


class DatabaseRanges:
    """Plans and reads the ranges of a table (`CountedRows`)."""

    def __init__(self, table: DatabaseTable, keys: TableKeys) -> None:
        """Read a table by its ranges."""
        self._table, self._keys = table, keys

    def plan(self, offset: Callable[[SourcePartition], SourceOffset | None]) -> list[SparkUnit]:
        """Return the next look for keys, or ranges; see `CountedRows`."""
        return self._keys.plan(lambda: offset(self._keys.partition))

    def frame(self, session: Any, content: KeyLook | KeyRange) -> Any:  # noqa: ANN401 - PySpark's
        """Return the rows of a range, or look for keys; see `CountedRows`."""
        return self._table.frame(session, content)

    def is_done(self, content: KeyContent, offset: SourceOffset | None) -> bool:
        """Return whether a range is read, or a look done; see `CountedRows`."""
        return is_past(content, offset)

    def end_of(self, content: KeyContent, offset: SourceOffset | None) -> SourceOffset:
        """Return the offset behind a range, a plan or a look; see `CountedRows`."""
        return end_offset(content, offset)


def _without_rows(session: Any, rows: Any) -> Any:  # noqa: ANN401 - PySpark's
    """Return a frame with these columns whose one partition has no rows: Spark does not know before."""
    columns = [
        f"CAST(NULL AS {field.dataType.simpleString()}) AS {quoted(field.name)}" for field in rows.schema
    ]
    return session.range(0, 1, 1, 1).where("id < 0").selectExpr(*columns)


def _number(kind: str, rounded: str, value: str) -> str:
    """Return the expression of a key as a whole number."""
    if kind == _DATE:
        return f"unix_date({value})"
    if kind == _TIMESTAMP:
        return f"unix_micros({value})"
    return f"CAST({rounded}({value}) AS DECIMAL(38, 0))"


def _literal(kind: str, number: object) -> str:
    """Return the expression of the key that a whole number stands for."""
    if kind == _DATE:
        return f"date_from_unix_date({number})"
    return f"timestamp_micros({number})" if kind == _TIMESTAMP else f"{number}"


def quoted(name: str) -> str:
    """Return the name of a column as Spark's SQL has it."""
    return f"`{name.replace('`', '``')}`"
