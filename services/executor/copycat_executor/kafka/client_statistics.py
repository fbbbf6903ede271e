"""librdkafka's statistics of a Kafka client as measures of its task, in the meaning of Java's metrics.

A figure that means something else there is left out; `deploy/monitoring/README.md` says what the others show.
"""

from __future__ import annotations

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from copycat_executor.pipeline.task.measures import Measures

_log = logging.getLogger(__name__)

#: Statistics of librdkafka that only rise, to the name they are noted under.
_COUNTS: Final = {
    "tx_bytes": "client-outgoing-byte",
    "rx_bytes": "client-incoming-byte",
    "tx": "client-request",
    "rx": "client-response",
}
_MICROSECONDS: Final = 1000.0

Statistics = Mapping[str, Any]


class ClientStatistics(ABC):
    """Hears a client's statistics, within its polls, and notes what is new of them.

    A client that takes the place of another counts from zero: its name distinguishes it.
    """

    _counts: Mapping[str, str] = _COUNTS

    def __init__(self, measures: Measures, interval_ms: int) -> None:
        """`interval_ms` is how often the client reports; 0 for never."""
        self._measures = measures
        self._interval_ms = interval_ms
        self._name = ""
        self._known: dict[str, float] = {}

    @property
    def settings(self) -> dict[str, object]:
        """What the client is to be made with; nothing where it is not to report."""
        if not self._interval_ms:
            return {}
        return {"statistics.interval.ms": self._interval_ms, "stats_cb": self._heard}

    def _heard(self, text: str) -> None:
        try:
            self._note(json.loads(text))
        except Exception:  # whatever a newer client reports must not fail a poll
            _log.exception("The statistics of a Kafka client are not understood")

    def _note(self, found: Statistics) -> None:
        if found["name"] != self._name:
            self._name, self._known = found["name"], {}
        measures, brokers = self._measures, list(found["brokers"].values())
        measures.note_state("client-connection-count", sum(each["state"] == "UP" for each in brokers))
        for statistic, name in self._counts.items():
            more = found[statistic] - self._known.get(statistic, 0)
            self._known[statistic] = found[statistic]
            if more:  # a client at rest has nothing to report
                measures.note(name, more)
        throttled = max((each["throttle"]["max"] for each in brokers), default=0)
        (measures.note if throttled else measures.note_state)("client-throttle-time", throttled)
        self._note_own(found, brokers)

    @abstractmethod
    def _note_own(self, found: Statistics, brokers: Iterable[Statistics]) -> None:
        """Note what only this kind of client has."""


class ProducerStatistics(ClientStatistics):
    """Of a source task's producer."""

    _counts: Mapping[str, str] = MappingProxyType({**_COUNTS, "txmsgs": "producer-record-send"})

    def _note_own(self, found: Statistics, brokers: Iterable[Statistics]) -> None:
        measures = self._measures
        measures.note_state("producer-requests-in-flight", sum(each["waitresp_cnt"] for each in brokers))
        measures.note_state("producer-buffer-total-bytes", found["msg_size_max"])
        measures.note_state("producer-buffer-available-bytes", found["msg_size_max"] - found["msg_size"])
        for waited in (each["int_latency"] for each in brokers):
            if waited["cnt"]:
                measures.note("producer-record-queue-time", waited["max"] / _MICROSECONDS)
        for sizes in (each["batchsize"] for each in found["topics"].values()):
            if sizes["cnt"]:
                measures.note_many(
                    "producer-batch-size",
                    sizes["cnt"],
                    sizes["sum"],
                    highest=sizes["max"],
                    lowest=sizes["min"],
                )


class ConsumerStatistics(ClientStatistics):
    """Of a sink task's consumer."""

    def __init__(self, measures: Measures, interval_ms: int, *, committed_only: bool) -> None:
        """With `committed_only` partitions end, for the consumer, before the first open transaction."""
        super().__init__(measures, interval_ms)
        self._end = "ls_offset" if committed_only else "hi_offset"

    def _note_own(self, found: Statistics, brokers: Iterable[Statistics]) -> None:
        del brokers
        ends = [(each[self._end], each["app_offset"]) for each in _partitions(found)]
        lags = [max(end - position, 0) for end, position in ends if end >= 0 and position >= 0]
        if lags:  # else nothing was read yet
            self._measures.note("consumer-records-lag", max(lags))


def _partitions(found: Statistics) -> Iterator[Statistics]:
    for topic in found["topics"].values():
        yield from (each for number, each in topic["partitions"].items() if number != "-1")
