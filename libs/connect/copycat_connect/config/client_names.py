"""Settings of Kafka's Java clients in librdkafka's words, for tasks, dead letter queues and mirrors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from copycat_connect.config.client_choices import (
    IGNORE_KEYS,
    INTERCEPTORS,
    OFFSET_RESET,
    PARTITIONER,
    OffsetReset,
    order_backoffs,
    within_limits,
)
from copycat_connect.config.login import (
    CLIENT_ID,
    CLIENT_SECRET,
    JAAS,
    is_oauth,
    librdkafka_oauth,
    login_options,
    read_oauth,
)
from copycat_connect.errors import ConfigError
from copycat_connect.files import check_client_file

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
_MEANINGLESS: Final = frozenset({
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

#: What is done in another way (`client_choices`): librdkafka has no word for it.
_HONOURED: Final = frozenset({PARTITIONER, IGNORE_KEYS})

_TRUST: Final = "ssl.truststore.location"
_OWN: Final = "ssl.keystore.location"
#: Key stores: those in a format that only Java reads are among the unknown keys of a translation.
STORES: Final = (_TRUST, _OWN)
#: Of logins and stores: they are translated together; all other keys are renamed one by one.
SECURITY_KEYS: Final = frozenset({
    JAAS, CLIENT_ID, CLIENT_SECRET, _TRUST, "ssl.truststore.type", "ssl.truststore.password", _OWN,
    "ssl.keystore.type",
})  # fmt: skip
_SILENT: Final = _MEANINGLESS | _HONOURED | SECURITY_KEYS
_LOGIN_OPTIONS: Final = {
    "username": "sasl.username",
    "password": "sasl.password",
    "principal": "sasl.kerberos.principal",
    "keyTab": "sasl.kerberos.keytab",
}
_FETCH_BYTES: Final = "fetch.max.bytes"
_MESSAGE_BYTES: Final = "message.max.bytes"
#: librdkafka's default.
_DEFAULT_MESSAGE_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Translated:
    """Settings of one client in librdkafka's words."""

    properties: dict[str, str]
    unknown: tuple[str, ...]
    """Keys that say something which librdkafka cannot do, in the Java clients' words; they are left out."""


def translated(java: Mapping[str, str], names: Mapping[str, Rename], prefix: str = "") -> Translated:
    """Translate the settings of a client.

    Args:
        java: Settings under their Java names.
        names: What this kind of client has: `PRODUCER`, `CONSUMER`, `ADMIN` or `CONNECTION`.
        prefix: Where they stand in the configuration, for the text of an error.

    Raises:
        ConfigError: A value is no number, a store no file that can be read, or a login with tokens lacks
            what it needs.
    """
    properties, unknown = _security(java, prefix)
    for key, value in java.items():
        if key in names:
            other, convert = names[key]
            properties[other] = _converted(f"{prefix}{key}", value, other, convert)
        elif not (key in _SILENT or (key == INTERCEPTORS and not value)):
            unknown.append(key)
    order_backoffs(properties)
    if _FETCH_BYTES in properties:  # librdkafka demands that a fetch has room for the largest message
        properties[_MESSAGE_BYTES] = str(min(int(properties[_FETCH_BYTES]), _DEFAULT_MESSAGE_BYTES))
    return Translated(properties, tuple(unknown))


def _converted(key: str, value: str, name: str, convert: Callable[[str], str]) -> str:
    try:
        return within_limits(name, convert(value))
    except ValueError as error:
        wanted = "not one that Kafka knows" if key.endswith(OFFSET_RESET) else "Not a number"
        raise ConfigError(f"Invalid value {value} for configuration {key}: {wanted}", key=key) from error


def _security(java: Mapping[str, str], prefix: str) -> tuple[dict[str, str], list[str]]:
    for key in STORES:
        if java.get(key):
            check_client_file(f"{prefix}{key}", java[key])
    options = login_options(java.get(JAAS) or "")
    login = {key: options[name] for name, key in _LOGIN_OPTIONS.items() if name in options}
    tokens = librdkafka_oauth(read_oauth(java, prefix)) if is_oauth(java) else {}
    unknown: list[str] = []
    return {**login, **tokens, **_stores(java, unknown)}, unknown


def _stores(java: Mapping[str, str], unknown: list[str]) -> dict[str, str]:
    properties: dict[str, str] = {}
    if trust := java.get(_TRUST):
        if java.get("ssl.truststore.type", "JKS").upper() == "PEM":
            properties["ssl.ca.location"] = trust
        else:
            unknown.append(_TRUST)
    if own := java.get(_OWN):
        match java.get("ssl.keystore.type", "JKS").upper():
            case "PEM":
                properties |= {"ssl.certificate.location": own, "ssl.key.location": own}
            case "PKCS12":
                properties["ssl.keystore.location"] = own
            case _:
                unknown.append(_OWN)
    return properties


#: Settings of librdkafka; no key of Java's consumers says the same. With a full queue the client rests, by
#: default for a second, in which its reader empties the queue and waits: throughput halves, and a mirror
#: moved no more than 130,000 small records a second. The queue is bounded per consumer.
READ_AHEAD: Final[Mapping[str, str]] = {
    "fetch.queue.backoff.ms": "2",
    "queued.min.messages": "100000",
    "queued.max.messages.kbytes": "32768",
}
