"""Settings of Kafka's Java clients that librdkafka has not, or not with all their values.

What they ask for is done in another way where that is possible (`OffsetReset`, `Placing`) and as nearly as
librdkafka can where it is a number (`within_limits`). What is left would change which records are read or
where they go, so it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Final

from copycat_connect.config.client_overrides import CONSUMER_OVERRIDE, PRODUCER_OVERRIDE
from copycat_connect.errors import ConfigError

OFFSET_RESET: Final = "auto.offset.reset"
PARTITIONER: Final = "partitioner.class"
IGNORE_KEYS: Final = "partitioner.ignore.keys"
INTERCEPTORS: Final = "interceptor.classes"
_DURATION: Final = "by_duration:"
_ISO_DURATION: Final = re.compile(
    r"P(?=[\dT])(?:(\d{1,9})D)?(?:T(?=\d)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?)?",
    re.ASCII | re.IGNORECASE,
)
_PRODUCERS: Final = "org.apache.kafka.clients.producer."
#: Interceptors that only measure or trace: without them every record is where it would be.
_WATCHING_INTERCEPTORS: Final = (
    "io.confluent.monitoring.clients.interceptor.",
    "io.opentelemetry.instrumentation.kafkaclients.",
    "io.opentracing.contrib.kafka.",
)


class ResetTo(Enum):
    """Where a consumer begins that has no position; the value is librdkafka's word."""

    BEGINNING = "earliest"
    END = "latest"
    NOWHERE = "error"


#: Kafka's words, and those that librdkafka takes besides.
_RESETS: Final[Mapping[str, ResetTo]] = {
    "earliest": ResetTo.BEGINNING,
    "smallest": ResetTo.BEGINNING,
    "beginning": ResetTo.BEGINNING,
    "latest": ResetTo.END,
    "largest": ResetTo.END,
    "end": ResetTo.END,
    "none": ResetTo.NOWHERE,
    "error": ResetTo.NOWHERE,
}


@dataclass(frozen=True, slots=True)
class OffsetReset:
    """Where a consumer begins that has no position (`auto.offset.reset`)."""

    to: ResetTo
    """What librdkafka is given, which knows no `age`."""
    age: timedelta | None = None
    """Begin at the first record that is no older (`by_duration`, KIP-1106).

    A position that its partition has lost goes on at what is left, as for `earliest`: nothing is left out.
    """

    @classmethod
    def of(cls, value: str) -> OffsetReset:
        """Read it as Kafka does.

        Raises:
            ValueError: Kafka has no such value.
        """
        word = value.strip().lower()
        if word in _RESETS:
            return cls(_RESETS[word])
        found = _ISO_DURATION.fullmatch(word.removeprefix(_DURATION)) if word.startswith(_DURATION) else None
        if found is None:
            raise ValueError(value)
        days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
        try:
            age = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        except OverflowError as error:
            raise ValueError(value) from error
        return cls(ResetTo.BEGINNING, age)


class Placing(Enum):
    """How a producer chooses partitions for records that name none."""

    BY_KEY = "by key"
    """Kafka's default: by the hash of the key, anywhere without one."""
    ROUND_ROBIN = "in turn"
    """Each in its turn, whatever the keys are."""
    ANYWHERE = "anywhere"
    """Keys do not count."""


_PARTITIONERS: Final[Mapping[str, Placing]] = {
    "": Placing.BY_KEY,
    f"{_PRODUCERS}RoundRobinPartitioner": Placing.ROUND_ROBIN,
    # Until Kafka 4, which has no classes for these any more.
    f"{_PRODUCERS}internals.DefaultPartitioner": Placing.BY_KEY,
    f"{_PRODUCERS}UniformStickyPartitioner": Placing.ANYWHERE,
}


def placing_of(java: Mapping[str, str]) -> Placing:
    """Return how a producer with these settings, which are not refused, chooses partitions."""
    placing = _PARTITIONERS.get(java.get(PARTITIONER, "").strip(), Placing.BY_KEY)
    ignores_keys = java.get(IGNORE_KEYS, "").strip().lower() == "true"
    return Placing.ANYWHERE if ignores_keys and placing is Placing.BY_KEY else placing


def _refuse_reset(value: str) -> str | None:
    try:
        OffsetReset.of(value)
    except ValueError:
        return (
            "must be earliest, latest, none or by_duration: with an ISO 8601 duration, as in by_duration:PT1H"
        )
    return None


def _refuse_partitioner(value: str) -> str | None:
    if value.strip() in _PARTITIONERS:
        return None
    return (
        "a partitioner written in Java does not run here; without it records would go to other partitions."
        f" Leave it out for Kafka's default, or use {_PRODUCERS}RoundRobinPartitioner"
    )


def _refuse_interceptors(value: str) -> str | None:
    names = [each for part in value.split(",") if (each := part.strip())]
    if all(each.startswith(_WATCHING_INTERCEPTORS) for each in names):
        return None
    return (
        "interceptors written in Java do not run here, and they may change, drop or redirect records. Remove"
        " it; a transformation can do the same"
    )


_Refuse = Callable[[str], "str | None"]
_REFUSALS: Final[Mapping[str, Mapping[str, _Refuse]]] = {
    PRODUCER_OVERRIDE: {PARTITIONER: _refuse_partitioner, INTERCEPTORS: _refuse_interceptors},
    CONSUMER_OVERRIDE: {OFFSET_RESET: _refuse_reset, INTERCEPTORS: _refuse_interceptors},
}


def refusal(client: str, setting: str, value: str, shown: str | None = None) -> str | None:
    """Return why a setting cannot be honoured although it says which records are read or where they go.

    Args:
        client: How overrides of this client begin, as in `producer.override.`.
        setting: The name in Kafka's words.
        value: What it has.
        shown: The key that is named in the text, if it is another.
    """
    refuse = _REFUSALS.get(client, {}).get(setting)
    reason = refuse(value) if refuse else None
    return reason and f"Invalid value {value} for configuration {shown or setting}: {reason}"


def check_client_choices(worker: Mapping[str, str]) -> None:
    """Check what a worker's properties say for the clients of all connectors (`producer.`, `consumer.`).

    Raises:
        ConfigError: A setting cannot be honoured.
    """
    for client, settings in _REFUSALS.items():
        for setting in settings:
            key = f"{client.removesuffix('override.')}{setting}"
            refused = refusal(client, setting, worker[key], key) if key in worker else None
            if refused is not None:
                raise ConfigError(refused, key=key)


_INT: Final = 2**31 - 1
_FIRST_WAIT: Final = "reconnect.backoff.ms"
_LONGEST_WAIT: Final = "reconnect.backoff.max.ms"
#: librdkafka's.
_DEFAULT_FIRST_WAIT: Final = 100
_DEFAULT_LONGEST_WAIT: Final = 10_000
#: The numbers that librdkafka takes, by its names. Those of Java's clients go further, on either side.
_LIMITS: Final[Mapping[str, tuple[int, int]]] = {
    "batch.size": (1, _INT),
    "connections.max.idle.ms": (0, _INT),  # 0 is never, to Java -1
    "fetch.max.bytes": (1_000, _INT - 512),
    "fetch.min.bytes": (1, 100_000_000),
    "fetch.wait.max.ms": (0, 59_000),  # a second less than socket.timeout.ms
    "linger.ms": (0, 900_000),
    "max.in.flight.requests.per.connection": (1, 1_000_000),
    "max.partition.fetch.bytes": (1, 1_000_000_000),
    "message.max.bytes": (1_000, 1_000_000_000),
    "metadata.max.age.ms": (1, 86_400_000),
    "queue.buffering.max.kbytes": (1, _INT),
    "reconnect.backoff.max.ms": (0, 3_600_000),
    "reconnect.backoff.ms": (0, 3_600_000),
    "request.timeout.ms": (1, 900_000),
    "retry.backoff.max.ms": (1, 300_000),
    "retry.backoff.ms": (1, 300_000),
    "socket.connection.setup.timeout.ms": (1_000, _INT),
    "socket.receive.buffer.bytes": (0, 100_000_000),  # 0 is the system's default, to Java -1
    "socket.send.buffer.bytes": (0, 100_000_000),
    "transaction.timeout.ms": (1_000, _INT),
}


def within_limits(name: str, value: str) -> str:
    """Return a value of Java's clients as near as librdkafka takes it; `name` is librdkafka's.

    Raises:
        ValueError: It must be a number and is not.
    """
    if name not in _LIMITS:
        return value
    least, most = _LIMITS[name]
    return str(min(max(int(value), least), most))


def order_backoffs(properties: dict[str, str]) -> None:
    """Keep the first wait before a broker is connected again below the longest: librdkafka demands it.

    As Java's clients do it: the longest counts where it is given, else it is as long as the first.
    """
    first = int(properties.get(_FIRST_WAIT, _DEFAULT_FIRST_WAIT))
    longest = int(properties.get(_LONGEST_WAIT, max(first, _DEFAULT_LONGEST_WAIT)))
    if _FIRST_WAIT in properties or _LONGEST_WAIT in properties:
        properties |= {_FIRST_WAIT: str(min(first, longest)), _LONGEST_WAIT: str(longest)}
