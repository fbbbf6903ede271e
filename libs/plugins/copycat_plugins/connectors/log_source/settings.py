"""What a task of LogSource goes by, read out of its configuration once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import translate

from copycat_connect.config.user_pattern import UserPattern, compile_user_pattern

from copycat_plugins.connectors.log_source import spec
from copycat_plugins.connectors.log_source.fields import LineFields


@dataclass(frozen=True, slots=True)
class Settings:
    """Parsed; times in seconds."""

    topic: str
    topics: tuple[tuple[re.Pattern[str], str], ...]
    fields: LineFields | None
    encoding: str
    headers: bool
    record_start: UserPattern | None
    record_lines: int
    record_seconds: float
    record_bytes: int
    batch_bytes: int
    rotated_seconds: float
    scan_seconds: float
    open_files: int
    rate: int

    @classmethod
    def of(cls, config: Mapping[str, str | None]) -> Settings:
        """Read a configuration.

        Raises:
            ConfigError: It is wrong.
        """
        parsed = spec.CONFIG.parse(config)
        start: str | None = parsed[spec.RECORD_START]
        return cls(
            topic=parsed[spec.TOPIC],
            topics=tuple(map(_topic, parsed[spec.TOPIC_BY_FILE])),
            fields=LineFields(parsed) if parsed[spec.LINE_REGEX] else None,
            encoding="" if parsed[spec.ENCODING].lower() in {"utf-8", "utf8"} else parsed[spec.ENCODING],
            headers=parsed[spec.HEADERS],
            record_start=compile_user_pattern(spec.RECORD_START, start) if start else None,
            record_lines=parsed[spec.RECORD_LINES],
            record_seconds=parsed[spec.RECORD_TIMEOUT] / 1000,
            record_bytes=parsed[spec.RECORD_BYTES],
            batch_bytes=parsed[spec.BATCH_BYTES],
            rotated_seconds=parsed[spec.ROTATED_WAIT] / 1000,
            scan_seconds=parsed[spec.SCAN_INTERVAL] / 1000,
            open_files=parsed[spec.OPEN_FILES],
            rate=parsed[spec.RATE],
        )

    def topic_of(self, log: str) -> str:
        """Return the topic of a log."""
        return next((topic for pattern, topic in self.topics if pattern.match(log)), self.topic)


def _topic(pair: str) -> tuple[re.Pattern[str], str]:
    pattern, _, topic = pair.rpartition(":")
    return re.compile(translate(pattern)), topic
