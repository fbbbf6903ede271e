"""TimestampRouter: makes the topic of a record's timestamp."""

from __future__ import annotations

from typing import TypeVar

from copycat_connect.cluster import Config
from copycat_connect.config import HIGH, STRING, ConfigDef, ConfigKey
from copycat_connect.data import ConnectRecord
from copycat_connect.errors import DataError
from copycat_connect.plugin import Transformation
from copycat_connect.values.date_pattern import DatePattern

from copycat_plugins.transforms.sides import plain_plugin

R = TypeVar("R", bound=ConnectRecord)
TOPIC_FORMAT = "topic.format"
TIMESTAMP_FORMAT = "timestamp.format"
CONFIG = ConfigDef(
    ConfigKey(
        TOPIC_FORMAT,
        STRING,
        HIGH,
        default="${topic}-${timestamp}",
        doc="New topic; ${topic} stands for the old one, ${timestamp} for the formatted timestamp.",
    ),
    ConfigKey(
        TIMESTAMP_FORMAT,
        STRING,
        HIGH,
        default="yyyyMMdd",
        doc="How the timestamp is written, in UTC, by the letters of Java's SimpleDateFormat.",
    ),
)


class TimestampRouter(Transformation):
    """Sends records to a topic of their time."""

    def configure(self, config: Config) -> None:
        """Read the formats of the topic and of the timestamp in it."""
        parsed = CONFIG.parse(config)
        self._topic_format: str = parsed[TOPIC_FORMAT]
        self._pattern = DatePattern(parsed[TIMESTAMP_FORMAT])

    def apply(self, record: R) -> R | None:
        """Return the record with its new topic."""
        return record.replace(topic=self._route(record))

    def apply_in_place(self, record: R) -> R | None:
        """Change the topic of the record."""
        record.topic = self._route(record)
        return record

    def _route(self, record: ConnectRecord) -> str:
        if record.timestamp is None:
            message = f"Timestamp missing on record: {record}"
            raise DataError(message)
        moment = self._pattern.format(record.timestamp)
        return self._topic_format.replace("${topic}", record.topic).replace("${timestamp}", moment)


PLUGIN = plain_plugin(
    TimestampRouter,
    "TimestampRouter",
    "Makes the topic of the record's timestamp.",
    CONFIG,
    {"A topic each month": {TIMESTAMP_FORMAT: "yyyy-MM"}},
)
