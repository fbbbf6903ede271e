"""SQL over the rows that Spark reads: what becomes of them the value, key, topic and headers of a record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol

from copycat_connect.cluster import Config
from copycat_connect.config.key import ConfigKey, Importance
from copycat_connect.config.setting import ConfigValue, Type
from copycat_connect.config.validators import non_empty
from copycat_connect.errors import ConfigError
from copycat_connect.plugin.topic_rows import INPUT_TOPICS

RECORDS: Final = "records"
"""The table of a query."""
PLACE: Final = "__place"
"""The column with a row's number in its unit, from 0."""
KEY: Final = "__key"
"""The column with the key of a row's record."""
TOPIC: Final = "__topic"
"""The column with its topic."""
_HEADER: Final = "__header"
HEADER_PREFIX: Final = "headers.expression."
"""What keys begin with that give a header; its name follows."""

SQL_KEY: Final = ConfigKey(
    "sql", Type.STRING, Importance.MEDIUM, default=None, validator=non_empty,
    doc="SELECT ... FROM records [WHERE ...] over the rows of a file: what it gives is the value, a row "
    "without result is no record. One column named value is the whole value, else all are its fields. "
    "Without it the value is the row as it is.",
)  # fmt: skip
KEY_EXPRESSION: Final = ConfigKey(
    "key.expression", Type.STRING, Importance.MEDIUM, default=None, validator=non_empty,
    doc="Spark's SQL for the key, of the row's columns and those that sql names: id, or "
    "named_struct('id', id).",
)  # fmt: skip
TOPIC_EXPRESSION: Final = ConfigKey(
    "topic.expression", Type.STRING, Importance.LOW, default=None, validator=non_empty,
    doc="Likewise for the topic, a text; where it is null, topic counts. Keys that begin with "
    f"{HEADER_PREFIX} add a header each, whose name follows: {HEADER_PREFIX}country=upper(country). A null "
    "is no header.",
)  # fmt: skip
STATE_URL: Final = "state.url"
"""The key that lets a query keep state, so that it is more than one row or none for each record."""
INPUT_COLUMNS: Final = "input.columns"
"""The key with the columns that rows have, and what keys begin with that say them of one topic."""
TABLES: Final = "tables"
"""The key with the names of tables that a query may join."""
WATERMARK_COLUMN: Final = "watermark.column"
"""The key with the column that says when something happened, of a query with state."""
WATERMARK_DELAY: Final = "watermark.delay"
"""The key that says how late records may be."""
OUTPUT_MODE: Final = "output.mode"
"""The key that says when a query with state gives a row."""
ROW_QUERY_KEYS: Final = (SQL_KEY, KEY_EXPRESSION, TOPIC_EXPRESSION)
"""The keys of a connector that takes a query."""


class QueryText(StrEnum):
    """What a text of a query is."""

    ROWS = "rows"
    """A query that gives one row or none for each."""
    STATE = "state"
    """One that works across rows, and keeps state for that."""
    EXPRESSION = "expression"
    """An expression of columns."""
    COLUMNS = "columns"
    """Columns with their types, as in CREATE TABLE."""
    WATERMARK = "watermark"
    """The column with the time of an event, of a query with state."""
    INTERVAL = "interval"
    """How long something takes, not below zero."""


@dataclass(frozen=True, slots=True)
class StateQuery:
    """What a query with state reads and gives, so that Spark can plan it before it runs."""

    columns: Mapping[str, str]
    """The columns of each table that is made of topics, as in CREATE TABLE."""
    mode: str
    """Spark's output mode: append or update."""
    watermark: str | None = None
    """The column with the time of an event, in the tables that have it."""
    sql: str | None = None
    """The query; None where nothing is known of it."""

    @classmethod
    def of(cls, raw: Config, values: Mapping[str, ConfigValue]) -> StateQuery | None:
        """Return the query of a configuration; None without state, or where its keys are not right.

        Args:
            raw: The configuration.
            values: What was found about its keys.
        """
        parsed = {name: value.value for name, value in values.items() if not value.errors}
        topics, mode = parsed.get(INPUT_TOPICS), parsed.get(OUTPUT_MODE)
        is_right = not any(value.errors for name, value in values.items() if _is_of_state(name))
        if not raw.get(STATE_URL) or not is_right or not isinstance(topics, list):
            return None
        columns = columns_of_topics(raw)
        tables = topic_tables([str(topic) for topic in topics], columns)
        return cls(
            {table: columns.get(first, columns.get("", "")) for table, (first, *_) in tables.items()},
            str(mode),
            raw.get(WATERMARK_COLUMN),
            raw.get(SQL_KEY.name) if SQL_KEY.name in parsed else None,
        )


def columns_of_topics(config: Config) -> Mapping[str, str]:
    """Return the columns of topics, those of all others under an empty name."""
    prefix = f"{INPUT_COLUMNS}."
    own = {
        name.removeprefix(prefix): text
        for name, text in config.items()
        if name.startswith(prefix) and text is not None
    }
    return {**own, "": text} if (text := config.get(INPUT_COLUMNS)) else own


def topic_tables(topics: Sequence[str], columns: Mapping[str, str]) -> Mapping[str, tuple[str, ...]]:
    """Return the tables of a query that are made of topics, each with these: of its own, or records."""
    own = {topic: (topic,) for topic in topics if topic in columns}
    others = tuple(topic for topic in topics if topic not in own)
    return {**own, **({RECORDS: others} if others else {})}


class RowTextCheck(Protocol):
    """Checks what can be seen of a query over rows that are not known yet, or of an expression in one."""

    def __call__(
        self,
        text: str,
        *,
        kind: QueryText,
        repeatable: bool,
        tables: Sequence[str] = (),
        state: StateQuery | None = None,
    ) -> None:
        """Check a text; `repeatable` when it has to give the same each time.

        `tables` are what a query may join whose columns nobody knows; `state` is what else is known of one
        with state, if that is.

        Raises:
            ConfigError: It is refused.
            RetriableError: Nobody can say now.
        """


@dataclass(frozen=True, slots=True)
class RowQuery:
    """What is made of the rows of a unit (`SparkSourceTask.query`)."""

    sql: str | None = None
    """`SELECT ... FROM records [WHERE ...]`; None for the rows as they are."""
    key: str | None = None
    """The expression for the key; None for no key."""
    topic: str | None = None
    """The expression for the topic; None for the connector's."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """The expression for each header."""
    tables: Sequence[str] = ()
    """Views of the session, each with a table that `sql` may join."""

    @classmethod
    def of(cls, config: Config) -> RowQuery | None:
        """Return the query of a configuration; None without one."""
        headers = {
            name.removeprefix(HEADER_PREFIX): text
            for name, text in config.items()
            if name.startswith(HEADER_PREFIX) and text is not None
        }
        sql, key, topic = (config.get(each.name) for each in ROW_QUERY_KEYS)
        query = cls(sql, key, topic, headers)
        return None if query == cls() else query

    @property
    def expressions(self) -> dict[str, str]:
        """The expressions for the columns behind the place of a row, by their names."""
        given = {KEY: self.key, TOPIC: self.topic}
        named = {name: text for name, text in given.items() if text is not None}
        return named | {f"{_HEADER}_{number}": text for number, text in enumerate(self.headers.values())}

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield the key of each text, and the text."""
        for key, text in zip(ROW_QUERY_KEYS, (self.sql, self.key, self.topic), strict=True):
            if text is not None:
                yield key.name, text
        for name, text in self.headers.items():
            yield f"{HEADER_PREFIX}{name}", text


def _has_columns(name: str) -> bool:
    return name == INPUT_COLUMNS or name.startswith(f"{INPUT_COLUMNS}.")


def _is_of_state(name: str) -> bool:
    return _has_columns(name) or name in {INPUT_TOPICS, TABLES, STATE_URL, WATERMARK_COLUMN, OUTPUT_MODE}


_KINDS: Final = {WATERMARK_COLUMN: QueryText.WATERMARK, WATERMARK_DELAY: QueryText.INTERVAL}


def _kind_of(name: str, raw: Config) -> QueryText:
    if name in _KINDS:
        return _KINDS[name]
    if _has_columns(name):
        return QueryText.COLUMNS
    if name != SQL_KEY.name:
        return QueryText.EXPRESSION
    return QueryText.STATE if raw.get(STATE_URL) else QueryText.ROWS


def check_row_query(raw: Config, values: list[ConfigValue], check: RowTextCheck, *, repeatable: bool) -> None:
    """Add the errors of a query to what was found about its keys; `repeatable` when it has to be.

    Raises:
        RetriableError: Nobody can say now.
    """
    query = RowQuery.of(raw) or RowQuery()
    # What a query with state reads comes before the query itself.
    first = [
        (name, text)
        for name, text in raw.items()
        if text is not None and (_has_columns(name) or (raw.get(STATE_URL) and name in _KINDS))
    ]
    first.sort(key=lambda each: each[0] in _KINDS)
    by_name = {value.name: value for value in values}
    declared = by_name.get(TABLES)
    tables = declared.value if declared is not None and isinstance(declared.value, list) else ()
    for name, text in (*first, *query.texts()):
        value = by_name.get(name)
        if value is None:
            value = by_name[name] = ConfigValue(name, text)
            values.append(value)
        if value.errors:
            continue
        if name == HEADER_PREFIX:
            value.errors.append(f"{name} lacks the name of the header: write {HEADER_PREFIX}name")
            continue
        try:
            kind, state = _kind_of(name, raw), StateQuery.of(raw, by_name)
            check(text, kind=kind, repeatable=repeatable, tables=tables, state=state)
        except ConfigError as error:
            # Without the text: it may hold what placeholders stood for.
            value.errors.append(f"Invalid value for configuration {name}: {error.message}")
