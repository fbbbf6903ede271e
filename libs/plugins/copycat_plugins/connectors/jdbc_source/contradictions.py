"""What single keys of the JDBC source cannot say: which of them go together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from copycat_connect.config.user_pattern import compile_user_pattern
from copycat_connect.errors import ConfigError

from copycat_plugins.connectors.jdbc.address import parse_address
from copycat_plugins.connectors.jdbc_source import spec
from copycat_plugins.connectors.jdbc_source.mapping import ColumnMapping

_LISTS = (spec.WHITELIST, spec.BLACKLIST, spec.INCLUDE, spec.EXCLUDE)


def contradictions(parsed: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong about keys that are right by themselves: a key and the text about it."""
    yield from _lists(parsed)
    yield from _queries(parsed)
    yield from _followed(parsed)
    yield from _mappings(parsed)
    yield from _unreadable(parsed)


def _lists(parsed: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    lists = [key for key in _LISTS if parsed[key]]
    if parsed[spec.WHITELIST] and parsed[spec.BLACKLIST]:
        text = f"{spec.WHITELIST} and {spec.BLACKLIST} are exclusive: remove one of them"
        yield spec.WHITELIST, text
        yield spec.BLACKLIST, text
    if {spec.WHITELIST, spec.BLACKLIST} & {*lists} and {spec.INCLUDE, spec.EXCLUDE} & {*lists}:
        text = (
            f"{spec.INCLUDE} and {spec.EXCLUDE} replace {spec.WHITELIST} and {spec.BLACKLIST}: keep one kind"
        )
        yield from ((key, text) for key in lists)


def _queries(parsed: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    lists = [key for key in (*_LISTS, spec.INCREMENTING_MAPPING, spec.TIMESTAMP_MAPPING) if parsed[key]]
    given = [key for key in (spec.QUERY, spec.MASKED_QUERY) if parsed[key]]
    if len(given) > 1:
        text = f"{spec.QUERY} and {spec.MASKED_QUERY} are exclusive: remove one of them"
        yield from ((key, text) for key in given)
    if given and lists:
        text = f"{given[0]} may not be combined with lists of tables: remove {', '.join(lists)}"
        yield given[0], text
    mode = parsed[spec.MODE]
    if given and mode in (spec.INCREMENTING, spec.BOTH) and not parsed[spec.INCREMENTING_COLUMN]:
        yield spec.INCREMENTING_COLUMN, f"must be set where {spec.MODE} is {mode} and {given[0]} is set"


def _followed(parsed: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    mode = parsed[spec.MODE]
    named = parsed[spec.TIMESTAMP_COLUMNS] or parsed[spec.TIMESTAMP_MAPPING]
    if mode in (spec.TIMESTAMP, spec.BOTH) and not named:
        yield spec.TIMESTAMP_COLUMNS, f"must be set where {spec.MODE} is {mode}"


def _mappings(parsed: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    pairs = (
        (spec.INCREMENTING_MAPPING, spec.INCREMENTING_COLUMN, False, (spec.INCREMENTING, spec.BOTH)),
        (spec.TIMESTAMP_MAPPING, spec.TIMESTAMP_COLUMNS, True, (spec.TIMESTAMP, spec.BOTH)),
    )
    for key, single, several, modes in pairs:
        entries = parsed[key]
        if not entries or not isinstance(entries, list):
            continue
        if parsed[single]:
            text = f"{single} and {key} are exclusive: remove one of them"
            yield single, text
            yield key, text
        if not parsed[spec.INCLUDE]:
            yield key, f"needs {spec.INCLUDE}, which chooses the tables that it has columns for"
        if parsed[spec.MODE] not in modes:
            yield key, f"has no effect where {spec.MODE} is {parsed[spec.MODE]}: remove it"
        try:
            ColumnMapping.parse(key, entries, several=several)
        except ConfigError as error:
            yield key, error.message


def _unreadable(parsed: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    url, dialect = parsed[spec.URL], parsed[spec.DIALECT]
    if isinstance(url, str):
        try:
            found = parse_address(url).dialect
        except ConfigError as error:
            yield spec.URL, error.message
        else:
            wanted = spec.DIALECTS.get(str(dialect or ""), found)
            if wanted != found and {wanted, found} != {"mysql", "mariadb"}:
                yield spec.DIALECT, f"{dialect} does not fit {spec.URL}, whose dialect is {found}"
    for key in (spec.INCLUDE, spec.EXCLUDE):
        patterns = parsed[key]
        for pattern in patterns if isinstance(patterns, list) else []:
            try:
                compile_user_pattern(key, pattern)
            except re.error as error:
                yield key, f"Invalid regex {pattern}: {error}"
