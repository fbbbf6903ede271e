"""TimestampRouter: makes the topic of a record's timestamp."""

from __future__ import annotations

from typing import TypeVar

from copycat_connect.cluster import Config
from copycat_connect.config import HIGH
from copycat_connect.config.settings import Settings, key
from copycat_connect.data import ConnectRecord
from copycat_connect.errors import DataError
from copycat_connect.plugin import Transformation
from copycat_connect.values.date_pattern import DatePattern

from copycat_plugins.transforms.sides import plain_plugin

R = TypeVar("R", bound=ConnectRecord)


class TimestampRouterSettings(Settings):
    """What the topics are called."""

    topic_format: str = key(
        HIGH,
        default="${topic}-${timestamp}",
        doc="New topic; ${topic} stands for the old one, ${timestamp} for the formatted timestamp.",
    )
    timestamp_format: str = key(
        HIGH,
        default="yyyyMMdd",
        doc="How the timestamp is written, in UTC, by the letters of Java's SimpleDateFormat.",
    )


class TimestampRouter(Transformation):
    """Sends records to a topic of their time."""

    def configure(self, config: Config) -> None:
        """Read the formats of the topic and of the timestamp in it."""
        settings = TimestampRouterSettings.parse(config)
        self._topic_format = settings.topic_format
        self._pattern = DatePattern(settings.timestamp_format)

    def apply(self, record: R) -> R | None:
        """Return the record with its new topic."""
        return record.replace(topic=self._route(record))

    def apply_in_place(self, record: R) -> R | None:
        """Change the topic of the record."""
        record.topic = self._route(record)
        return record

    def _route(self, record: ConnectRecord) -> str:
        if record.timestamp is None:
            raise DataError(f"Timestamp missing on record: {record}")
        moment = self._pattern.format(record.timestamp)
        return self._topic_format.replace("${topic}", record.topic).replace("${timestamp}", moment)


PLUGIN = plain_plugin(
    TimestampRouter,
    "TimestampRouter",
    "Makes the topic of the record's timestamp.",
    TimestampRouterSettings.config_def(),
    {"A topic each month": {"timestamp.format": "yyyy-MM"}},
)
