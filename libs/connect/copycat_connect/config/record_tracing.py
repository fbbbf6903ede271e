"""`trace.records`: whether spans follow a connector's records, and whether it begins traces itself."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from copycat_connect.cluster import Config
from copycat_connect.config.definition import ConfigDef
from copycat_connect.config.framework_names import TRACE_RATIO, TRACE_RECORDS, TRACING_GROUP
from copycat_connect.config.key import ConfigKey, Importance, Width
from copycat_connect.config.setting import ConfigSetting, Type
from copycat_connect.config.validators import between, one_of_ignoring_case


class TraceMode(Enum):
    """What is done about traces of records."""

    OFF = "off"
    """Nothing: a record's headers are not looked at."""
    CONTINUE = "continue"
    """Records that carry a sampled `traceparent` header get a span; no record is changed."""
    START = "start"
    """So do they, and some batches of a source begin a trace, in a `traceparent` header of their records."""


@dataclass(frozen=True, slots=True)
class RecordTracing:
    """What a connector says of traces of its records."""

    mode: TraceMode
    ratio: float
    """Share of a source's batches that begin a trace, 0 to 1."""

    @classmethod
    def of(cls, connector: Config, worker: Config) -> RecordTracing:
        """Read it from a connector's configuration; what the worker says of the same keys is the default.

        Raises:
            ConfigError: A value cannot be one.
        """
        defaults = {key: worker[key] for key in TRACING_KEYS if worker.get(key)}
        found = ConfigDef(*TRACING_KEYS.values()).parse({**defaults, **connector})
        return cls(TraceMode(found[TRACE_RECORDS].lower()), found[TRACE_RATIO])


def _mode(name: str, value: ConfigSetting) -> None:
    one_of_ignoring_case(*(each.value for each in TraceMode))(name, value)


TRACING_KEYS: Final = {
    key.name: key
    for key in (
        ConfigKey(
            TRACE_RECORDS,
            Type.STRING,
            Importance.LOW,
            default=TraceMode.OFF.value,
            validator=_mode,
            doc=(
                "Whether spans follow the records, where the worker exports spans: off, continue (records "
                "that carry a sampled traceparent header), or start (a source also begins traces by itself, "
                "and adds that header to the records of some batches)."
            ),
            group=TRACING_GROUP,
            order=1,
            width=Width.SHORT,
            display_name="Trace Records",
        ),
        ConfigKey(
            TRACE_RATIO,
            Type.DOUBLE,
            Importance.LOW,
            default=0.01,
            validator=between(0, 1),
            doc="Share of a source's batches that begin a trace with trace.records=start, 0 to 1.",
            group=TRACING_GROUP,
            order=2,
            width=Width.SHORT,
            display_name="Share of Traced Batches",
        ),
    )
}
"""Copycat's own keys, of connectors, and of workers as the default of their connectors."""
