"""What is chosen by a short name, or by the class name that the published connectors use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from copycat_connect.config.setting import ConfigSetting
from copycat_connect.errors import ConfigError

_PARTITIONERS = "io.confluent.connect.storage.partitioner."
_EXTRACTORS = _PARTITIONERS + "TimeBasedPartitioner$"
_FORMATS = {
    "avro": "avro.AvroFormat",
    "json": "json.JsonFormat",
    "parquet": "parquet.ParquetFormat",
    "bytes": "bytearray.ByteArrayFormat",
    "string": "string.StringFormat",
}
_KINDS = ("io.confluent.connect.hdfs", "io.confluent.connect.hdfs3", "io.confluent.connect.s3.format")


@dataclass(frozen=True, slots=True)
class Choices:
    """Names of choices."""

    names: Mapping[str, str]
    """Each name that may be given, with the short one."""

    def check(self, name: str, value: ConfigSetting) -> None:
        """Accept these names.

        Raises:
            ConfigError: It is not one of them.
        """
        if value not in self.names:
            short = ", ".join(dict.fromkeys(self.names.values()))
            message = (
                f"Invalid value {value} for configuration {name}: it must be one of {short}, or the "
                "class name "
                "that the published connectors have for one of these"
            )
            raise ConfigError(message, key=name)


def _with_classes(classes: Mapping[str, tuple[str, ...]]) -> Choices:
    names = {short: short for short in classes}
    return Choices(names | {full: short for short, several in classes.items() for full in several})


DEFAULT_PARTITIONER: Final = _PARTITIONERS + "DefaultPartitioner"
"""The class name of the default partitioner."""
FORMATS: Final = _with_classes(
    {short: tuple(f"{kind}.{name}" for kind in _KINDS) for short, name in _FORMATS.items()}
)
PARTITIONERS: Final = _with_classes(
    {
        "default": (_PARTITIONERS + "DefaultPartitioner",),
        "field": (_PARTITIONERS + "FieldPartitioner",),
        "time": (_PARTITIONERS + "TimeBasedPartitioner",),
        "daily": (_PARTITIONERS + "DailyPartitioner",),
        "hourly": (_PARTITIONERS + "HourlyPartitioner",),
    }
)
EXTRACTORS: Final = _with_classes(
    {name: (f"{_EXTRACTORS}{name}TimestampExtractor",) for name in ("Wallclock", "Record", "RecordField")}
)
