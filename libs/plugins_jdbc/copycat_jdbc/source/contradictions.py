"""What single keys of the JDBC source cannot say: which of them go together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from copycat_connect.config.user_pattern import compile_user_pattern
from copycat_connect.errors import ConfigError

from copycat_jdbc.address import parse_address
from copycat_jdbc.settings import URL
from copycat_jdbc.source.mapping import ColumnMapping
from copycat_jdbc.source.settings import (
    BLACKLIST,
    BY_NUMBER,
    BY_TIME,
    DIALECT,
    DIALECTS,
    EXCLUDE,
    INCLUDE,
    INCREMENTING_COLUMN,
    INCREMENTING_MAPPING,
    MASKED_QUERY,
    MODE,
    SHOWN_QUERY,
    TIMESTAMP_COLUMNS,
    TIMESTAMP_MAPPING,
    WHITELIST,
)

_LISTS = (WHITELIST, BLACKLIST, INCLUDE, EXCLUDE)


def contradictions(parsed: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong about keys that are right by themselves: a key and the text about it."""
    yield from _lists(parsed)
    yield from _queries(parsed)
    yield from _followed(parsed)
    yield from _mappings(parsed)
    yield from _unreadable(parsed)


def _lists(parsed: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    lists = [key for key in _LISTS if parsed[key]]
    if parsed[WHITELIST] and parsed[BLACKLIST]:
        text = f"{WHITELIST} and {BLACKLIST} are exclusive: remove one of them"
        yield WHITELIST, text
        yield BLACKLIST, text
    if {WHITELIST, BLACKLIST} & {*lists} and {INCLUDE, EXCLUDE} & {*lists}:
        text = f"{INCLUDE} and {EXCLUDE} replace {WHITELIST} and {BLACKLIST}: keep one kind"
        yield from ((key, text) for key in lists)


def _queries(parsed: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    lists = [key for key in (*_LISTS, INCREMENTING_MAPPING, TIMESTAMP_MAPPING) if parsed[key]]
    given = [key for key in (SHOWN_QUERY, MASKED_QUERY) if parsed[key]]
    if len(given) > 1:
        text = f"{SHOWN_QUERY} and {MASKED_QUERY} are exclusive: remove one of them"
        yield from ((key, text) for key in given)
    if given and lists:
        text = f"{given[0]} may not be combined with lists of tables: remove {', '.join(lists)}"
        yield given[0], text
    mode = parsed[MODE]
    if given and mode in BY_NUMBER and not parsed[INCREMENTING_COLUMN]:
        yield INCREMENTING_COLUMN, f"must be set where {MODE} is {mode} and {given[0]} is set"


def _followed(parsed: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    mode = parsed[MODE]
    named = parsed[TIMESTAMP_COLUMNS] or parsed[TIMESTAMP_MAPPING]
    if mode in BY_TIME and not named:
        yield TIMESTAMP_COLUMNS, f"must be set where {MODE} is {mode}"


def _mappings(parsed: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    pairs = (
        (INCREMENTING_MAPPING, INCREMENTING_COLUMN, False, BY_NUMBER),
        (TIMESTAMP_MAPPING, TIMESTAMP_COLUMNS, True, BY_TIME),
    )
    for key, single, several, modes in pairs:
        entries = parsed[key]
        if not entries or not isinstance(entries, list):
            continue
        if parsed[single]:
            text = f"{single} and {key} are exclusive: remove one of them"
            yield single, text
            yield key, text
        if not parsed[INCLUDE]:
            yield key, f"needs {INCLUDE}, which chooses the tables that it has columns for"
        if parsed[MODE] not in modes:
            yield key, f"has no effect where {MODE} is {parsed[MODE]}: remove it"
        try:
            ColumnMapping.parse(key, entries, several=several)
        except ConfigError as error:
            yield key, error.message


def _unreadable(parsed: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    url, dialect = parsed[URL], parsed[DIALECT]
    if isinstance(url, str):
        try:
            found = parse_address(url).dialect
        except ConfigError as error:
            yield URL, error.message
        else:
            wanted = DIALECTS.get(str(dialect or ""), found)
            if wanted != found and {wanted, found} != {"mysql", "mariadb"}:
                yield DIALECT, f"{dialect} does not fit {URL}, whose dialect is {found}"
    for key in (INCLUDE, EXCLUDE):
        patterns = parsed[key]
        for pattern in patterns if isinstance(patterns, list) else []:
            try:
                compile_user_pattern(key, pattern)
            except re.error as error:
                yield key, f"Invalid regex {pattern}: {error}"
