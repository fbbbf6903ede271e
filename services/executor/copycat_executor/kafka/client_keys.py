"""Names of the Java clients' settings in librdkafka's words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from copycat_connect.config.client_choices import IGNORE_KEYS, OFFSET_RESET, PARTITIONER, OffsetReset

Rename = tuple[str, Callable[[str], str]]


def _same(value: str) -> str:
    return value


def _kilobytes(value: str) -> str:
    return str(max(1, int(value) // 1024))


def _at_least_one(value: str) -> str:
    return str(max(1, int(value)))


def _system_default(value: str) -> str:
    return "0" if int(value) < 0 else value


def _lower(value: str) -> str:
    return value.lower()


def _offset_reset(value: str) -> str:
    return OffsetReset.of(value).to.value


def _colons(value: str) -> str:
    return ":".join(part.strip() for part in value.split(","))


def _none_if_empty(value: str) -> str:
    return value or "none"


def _unchanged(*names: str) -> dict[str, Rename]:
    return {name: (name, _same) for name in names}


CONNECTION: Final[dict[str, Rename]] = {
    **_unchanged(
        "bootstrap.servers", "client.id", "client.dns.lookup", "client.rack", "security.protocol",
        "connections.max.idle.ms", "reconnect.backoff.ms", "reconnect.backoff.max.ms", "retry.backoff.ms",
        "retry.backoff.max.ms", "metadata.max.age.ms", "metadata.recovery.strategy",
        "socket.connection.setup.timeout.ms", "sasl.mechanism", "sasl.kerberos.service.name",
        "sasl.kerberos.kinit.cmd", "ssl.key.password", "ssl.keystore.password",
        "sasl.oauthbearer.token.endpoint.url", "sasl.oauthbearer.scope", "sasl.oauthbearer.extensions",
    ),
    "send.buffer.bytes": ("socket.send.buffer.bytes", _system_default),
    "receive.buffer.bytes": ("socket.receive.buffer.bytes", _system_default),
    "ssl.cipher.suites": ("ssl.cipher.suites", _colons),
    "ssl.endpoint.identification.algorithm": ("ssl.endpoint.identification.algorithm", _none_if_empty),
    "ssl.truststore.certificates": ("ssl.ca.pem", _same),
    "ssl.keystore.key": ("ssl.key.pem", _same),
    "ssl.keystore.certificate.chain": ("ssl.certificate.pem", _same),
}  # fmt: skip

PRODUCER: Final[Mapping[str, Rename]] = {
    **CONNECTION,
    **_unchanged(
        "acks", "linger.ms", "compression.type", "delivery.timeout.ms", "request.timeout.ms", "retries",
        "max.in.flight.requests.per.connection", "enable.idempotence", "transactional.id",
        "transaction.timeout.ms",
    ),
    "batch.size": ("batch.size", _at_least_one),
    "buffer.memory": ("queue.buffering.max.kbytes", _kilobytes),
    "max.request.size": ("message.max.bytes", _same),
}  # fmt: skip

CONSUMER: Final[Mapping[str, Rename]] = {
    **CONNECTION,
    **_unchanged(
        "group.id", "fetch.min.bytes", "fetch.max.bytes", "max.partition.fetch.bytes", "check.crcs",
        "allow.auto.create.topics",
    ),
    "fetch.max.wait.ms": ("fetch.wait.max.ms", _same),
    "isolation.level": ("isolation.level", _lower),
    OFFSET_RESET: ("auto.offset.reset", _offset_reset),
}  # fmt: skip

ADMIN: Final[Mapping[str, Rename]] = {
    **CONNECTION,
    **_unchanged("request.timeout.ms"),
}

#: Settings of the Java clients that say nothing to librdkafka: dropped without a word.
MEANINGLESS: Final = frozenset({
    "key.serializer", "value.serializer", "key.deserializer", "value.deserializer", "max.block.ms",
    "metric.reporters", "metrics.num.samples", "metrics.sample.window.ms", "metrics.recording.level",
    "enable.metrics.push", "auto.include.jmx.reporter", "default.api.timeout.ms",
    "enable.auto.commit", "auto.commit.interval.ms", "max.poll.records", "max.poll.interval.ms",
    "session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy", "group.instance.id",
    "group.protocol", "group.remote.assignor", "exclude.internal.topics", "metadata.max.idle.ms",
    "metadata.recovery.rebootstrap.trigger.ms", "partitioner.adaptive.partitioning.enable",
    "partitioner.availability.timeout.ms", "socket.connection.setup.timeout.max.ms",
    "transaction.two.phase.commit.enable", "ssl.protocol", "ssl.enabled.protocols", "ssl.provider",
    "ssl.secure.random.implementation", "ssl.keymanager.algorithm", "ssl.trustmanager.algorithm",
    "compression.gzip.level", "compression.lz4.level", "compression.zstd.level",
    "sasl.login.callback.handler.class",
})  # fmt: skip

#: What the engine does itself, with no word of librdkafka for it (`copycat_connect.config.client_choices`).
HONOURED: Final = frozenset({PARTITIONER, IGNORE_KEYS})
