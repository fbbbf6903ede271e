"""Which statistic of which measure of a task each of Kafka Connect's metrics is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from copycat.host.v1 import host_service_pb2 as pb
from copycat_telemetry.metrics.definitions import Value
from copycat_telemetry.metrics.sampled import Sampled, Windows

COMMIT_TIME: Final = "offset-commit-time-ms"
COMMIT_FAILURE: Final = "offset-commit-failure"

#: Metric to measure and statistic.
Statistics = Mapping[str, tuple[str, str]]


def _rate_and_total(measure: str) -> Statistics:
    return {f"{measure}-rate": (measure, "rate"), f"{measure}-total": (measure, "total")}


def _client_rate_and_total(what: str) -> Statistics:
    measure = f"client-{what}"
    return {f"{what}-rate": (measure, "rate"), f"{what}-total": (measure, "total")}


def _times(what: str) -> Statistics:
    measure = f"{what}-time-ms"
    return {f"{what}-max-time-ms": (measure, "highest"), f"{what}-avg-time-ms": (measure, "mean")}


def _level(measure: str) -> Statistics:
    return {
        measure: (measure, "last"),
        f"{measure}-max": (measure, "highest"),
        f"{measure}-avg": (measure, "mean"),
    }


TASK: Final[Statistics] = {
    **_times("offset-commit"),
    "batch-size-max": ("batch-size", "highest"),
    "batch-size-avg": ("batch-size", "mean"),
}
SOURCE: Final[Statistics] = {
    **_rate_and_total("source-record-poll"),
    **_rate_and_total("source-record-write"),
    **_times("poll-batch"),
    **_level("source-record-active-count"),
    "transaction-size-min": ("transaction-size", "lowest"),
    "transaction-size-max": ("transaction-size", "highest"),
    "transaction-size-avg": ("transaction-size", "mean"),
    "source-producer-replaced-total": ("source-producer-replaced", "total"),
}
SINK: Final[Statistics] = {
    **_rate_and_total("sink-record-read"),
    **_rate_and_total("sink-record-send"),
    "sink-record-lag-max": ("sink-record-lag", "last"),
    "sink-consumer-replaced-total": ("sink-consumer-replaced", "total"),
    "partition-count": ("partition-count", "last"),
    "offset-commit-seq-no": ("offset-commit-seq-no", "last"),
    **_rate_and_total("offset-commit-completion"),
    **_rate_and_total("offset-commit-skip"),
    **_times("put-batch"),
    **_level("sink-record-active-count"),
}
_CLIENT: Final[Statistics] = {
    **_client_rate_and_total("outgoing-byte"),
    **_client_rate_and_total("incoming-byte"),
    **_client_rate_and_total("request"),
    **_client_rate_and_total("response"),
    "connection-count": ("client-connection-count", "last"),
}
PRODUCER: Final[Statistics] = {
    **_CLIENT,
    "record-send-rate": ("producer-record-send", "rate"),
    "record-send-total": ("producer-record-send", "total"),
    "record-queue-time-max": ("producer-record-queue-time", "highest"),
    "batch-size-max": ("producer-batch-size", "highest"),
    "batch-size-avg": ("producer-batch-size", "mean"),
    "produce-throttle-time-max": ("client-throttle-time", "highest"),
    "requests-in-flight": ("producer-requests-in-flight", "last"),
    "buffer-total-bytes": ("producer-buffer-total-bytes", "last"),
    "buffer-available-bytes": ("producer-buffer-available-bytes", "last"),
}
CONSUMER: Final[Statistics] = _CLIENT
CONSUMER_FETCH: Final[Statistics] = {
    "records-consumed-rate": ("sink-record-read", "rate"),
    "records-consumed-total": ("sink-record-read", "total"),
    "records-lag-max": ("consumer-records-lag", "highest"),
    "fetch-throttle-time-max": ("client-throttle-time", "highest"),
}
#: Whether a client has reported yet.
REPORTED: Final = "client-connection-count"
ERRORS: Final[Statistics] = {
    name: (name, "total")
    for name in (
        "total-record-failures",
        "total-record-errors",
        "total-records-skipped",
        "total-retries",
        "total-errors-logged",
        "deadletterqueue-produce-requests",
        "deadletterqueue-produce-failures",
        "deadletterqueue-producer-replaced-total",
    )
}


@dataclass(slots=True)
class _Series:
    sampled: Sampled
    total: float = 0.0
    last: float = 0.0


class Measured:
    """All measures of one task since it started."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._series: dict[str, _Series] = {}

    def note(self, now: float, measures: Iterable[pb.Measure]) -> None:
        """Add what a host reported."""
        for measure in measures:
            series = self._series.get(measure.name)
            if series is None:
                series = self._series[measure.name] = _Series(Sampled(self._windows))
            series.sampled.note(now, measure.count, measure.total, measure.highest, measure.lowest)
            series.total += measure.total
            series.last = measure.last

    def values(self, now: float, statistics: Statistics) -> dict[str, Value]:
        """Compute metrics; of what was never measured a mean or a maximum is NaN, all else 0."""
        return {name: self._value(now, *chosen) for name, chosen in statistics.items()}

    def knows(self, measure: str) -> bool:
        """Return whether a measure was ever reported."""
        return measure in self._series

    def share(self, now: float, part: str, other: str) -> float:
        """Return how large a share of what happened lately is the one rather than the other, 0 to 1."""
        counts = [
            0 if series is None else series.sampled.count(now)
            for series in (self._series.get(part), self._series.get(other))
        ]
        return counts[0] / sum(counts) if any(counts) else 0.0

    def _value(self, now: float, measure: str, statistic: str) -> float:
        series = self._series.get(measure) or _Series(Sampled(self._windows))
        match statistic:
            case "total":
                return series.total
            case "last":
                return series.last
            case _:
                return float(getattr(series.sampled, statistic)(now))
