"""Names of topics: which are copied, by lists and patterns, and what they are called on the other cluster."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from copycat_connect.config.user_pattern import UserPattern, compile_user_pattern
from copycat_connect.errors import ConfigError

HEARTBEATS = "heartbeats"
_KAFKA_PREFIXES = ("__", ".")
_CONNECT_SUFFIXES = ("-internal", ".internal")
#: Topics, groups and properties are looked at again and again.
_REMEMBERED_NAMES: Final = 1 << 16


class DefaultPolicy:
    """`<source alias><separator><topic>`: the name says where a topic came from, hop by hop."""

    def __init__(
        self, source: str, separator: str = ".", *, separator_in_internal_topics: bool = True
    ) -> None:
        """Use the alias of the source cluster, and the text between alias and topic."""
        self._source = source
        self._separator = separator
        self._internal_separator = separator if separator_in_internal_topics else "."

    def remote_topic(self, source: str, topic: str) -> str:
        """Return what a source cluster's topic is called on the target."""
        return f"{source}{self._separator}{topic}"

    def source_of(self, topic: str) -> str | None:
        """Return the alias of the cluster a topic came from; None for one that was not mirrored."""
        source, separator, rest = topic.partition(self._separator)
        return source if separator and rest.replace(self._separator, "") else None

    def upstream_topic(self, topic: str) -> str | None:
        """Return a topic's name one hop nearer to its origin; None for one that was not mirrored."""
        source = self.source_of(topic)
        return None if source is None else topic[len(source) + len(self._separator) :]

    def original_topic(self, topic: str) -> str:
        """Return a topic's name where it was first written."""
        upstream = self.upstream_topic(topic)
        return topic if upstream is None or upstream == topic else self.original_topic(upstream)

    def is_heartbeats(self, topic: str) -> bool:
        """Tell whether a topic holds heartbeats, of this cluster or mirrored ones."""
        return self.original_topic(topic) == HEARTBEATS

    def is_internal(self, topic: str) -> bool:
        """Tell whether a topic belongs to Kafka, Kafka Connect or MirrorMaker: it is never mirrored."""
        if topic.startswith(_KAFKA_PREFIXES) or topic.endswith(_CONNECT_SUFFIXES):
            return True
        return topic.endswith(f"{self._internal_separator}internal")

    def would_loop(self, topic: str, target: str) -> bool:
        """Tell whether a topic passed through the target on its way, so that mirroring it would go round."""
        source = self.source_of(topic)
        if source is None:
            return False
        if source == target:
            return True
        upstream = self.upstream_topic(topic)
        return upstream is not None and upstream != topic and self.would_loop(upstream, target)

    def offset_syncs_topic(self, other: str) -> str:
        """Return the topic of offset syncs with the cluster of that alias."""
        return f"mm2-offset-syncs{self._internal_separator}{other}{self._internal_separator}internal"

    def checkpoints_topic(self, source: str) -> str:
        """Return the topic of checkpoints of groups of the source cluster."""
        return f"{source}{self._internal_separator}checkpoints{self._internal_separator}internal"


class IdentityPolicy(DefaultPolicy):
    """Topics keep their names, except heartbeats; loops cannot be seen in names."""

    def remote_topic(self, source: str, topic: str) -> str:
        """Return the same name; heartbeats get the alias."""
        return super().remote_topic(source, topic) if _like_heartbeats(topic) else topic

    def source_of(self, topic: str) -> str | None:
        """Return the source's alias: any topic may have come from there."""
        return super().source_of(topic) if _like_heartbeats(topic) else self._source

    def upstream_topic(self, topic: str) -> str | None:
        """Return the same name; heartbeats lose the alias."""
        return super().upstream_topic(topic) if _like_heartbeats(topic) else topic


class NameFilter:
    """Takes whole names that one of the included patterns matches and none of the excluded ones."""

    def __init__(
        self, include: Mapping[str, Sequence[str]] | None, exclude: Mapping[str, Sequence[str]]
    ) -> None:
        """Use the patterns by the keys that have them; no pattern takes no name, None includes every one.

        Raises:
            re.error: A pattern is malformed.
        """
        self._include = None if include is None else _compiled(include)
        self._exclude = _compiled(exclude)

        self.takes = lru_cache(maxsize=_REMEMBERED_NAMES)(self._takes)
        """Tells whether a name is chosen; raises PatternTooSlowError where a pattern does not end."""

    def _takes(self, name: str) -> bool:
        included = self._include is None or _matches(self._include, name)
        return included and not _matches(self._exclude, name)


def patterns(name: str, value: object) -> None:
    """Refuse a list with an entry that is no regular expression (a validator of keys).

    Raises:
        ConfigError: One is malformed.
    """
    for each in value if isinstance(value, list) else []:
        try:
            compile_user_pattern(name, each)
        except re.error as error:
            raise ConfigError(
                f"Invalid value {each} for configuration {name}: it is no regular expression: {error}",
                key=name,
            ) from error


def _like_heartbeats(topic: str) -> bool:
    return topic.endswith(HEARTBEATS)


def _compiled(written: Mapping[str, Sequence[str]]) -> list[UserPattern]:
    return [compile_user_pattern(key, each) for key, patterns in written.items() for each in patterns]


def _matches(compiled: Sequence[UserPattern], name: str) -> bool:
    return any(pattern.fullmatch(name) for pattern in compiled)
