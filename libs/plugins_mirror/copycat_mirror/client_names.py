"""Settings of Kafka's Java clients, as configurations of MirrorMaker have them, in librdkafka's words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from copycat_connect.config.client_choices import OFFSET_RESET, OffsetReset, order_backoffs, within_limits
from copycat_connect.config.jaas import login_options
from copycat_connect.config.oauth import is_oauth, librdkafka_oauth, read_oauth
from copycat_connect.errors import ConfigError
from copycat_connect.named_files import check_client_file

#: Settings that both know under one name and with the same values.
_SAME: Final = frozenset({
    "acks", "allow.auto.create.topics", "batch.size", "bootstrap.servers", "check.crcs", "client.dns.lookup",
    "client.id", "client.rack", "compression.type", "connections.max.idle.ms", "delivery.timeout.ms",
    "enable.idempotence", "fetch.max.bytes", "fetch.min.bytes", "linger.ms",
    "max.in.flight.requests.per.connection", "max.partition.fetch.bytes", "metadata.max.age.ms",
    "metadata.recovery.strategy", "reconnect.backoff.max.ms", "reconnect.backoff.ms", "request.timeout.ms",
    "retries", "retry.backoff.max.ms", "retry.backoff.ms", "sasl.kerberos.kinit.cmd",
    "sasl.kerberos.service.name", "sasl.mechanism", "sasl.oauthbearer.extensions", "sasl.oauthbearer.scope",
    "sasl.oauthbearer.token.endpoint.url", "security.protocol", "socket.connection.setup.timeout.ms",
    "ssl.key.password", "ssl.keystore.password",
})  # fmt: skip

#: Other names, and how the value is written there.
_RENAMED: Final[Mapping[str, tuple[str, Callable[[str], str]]]] = {
    OFFSET_RESET: ("auto.offset.reset", lambda value: OffsetReset.of(value).to.value),
    "buffer.memory": ("queue.buffering.max.kbytes", lambda value: str(max(1, int(value) // 1024))),
    "fetch.max.wait.ms": ("fetch.wait.max.ms", str),
    "isolation.level": ("isolation.level", str.lower),
    "max.request.size": ("message.max.bytes", str),
    "receive.buffer.bytes": ("socket.receive.buffer.bytes", lambda value: "0" if int(value) < 0 else value),
    "send.buffer.bytes": ("socket.send.buffer.bytes", lambda value: "0" if int(value) < 0 else value),
    "ssl.cipher.suites": ("ssl.cipher.suites", lambda value: ":".join(map(str.strip, value.split(",")))),
    "ssl.endpoint.identification.algorithm": (
        "ssl.endpoint.identification.algorithm",
        lambda value: value or "none",
    ),
    "ssl.keystore.certificate.chain": ("ssl.certificate.pem", str),
    "ssl.keystore.key": ("ssl.key.pem", str),
    "ssl.truststore.certificates": ("ssl.ca.pem", str),
}
_LOGIN: Final = {
    "username": "sasl.username",
    "password": "sasl.password",
    "principal": "sasl.kerberos.principal",
    "keyTab": "sasl.kerberos.keytab",
}


def librdkafka_settings(java: Mapping[str, str], prefix: str) -> dict[str, str]:
    """Return the settings that librdkafka knows; those that mean nothing to it are left out.

    Args:
        java: Settings under their Java names.
        prefix: Where they stand in the configuration, for the text of an error.

    Raises:
        ConfigError: A value cannot be taken over: a key store in a format only Java reads, no
            number, or a login with tokens that lacks what it needs.
    """
    found: dict[str, str] = {}
    for name, value in java.items():
        if name in _SAME or name in _RENAMED:
            other, written = _RENAMED.get(name, (name, str))
            try:
                found[other] = within_limits(other, written(value))
            except ValueError as error:
                raise ConfigError(
                    f"Invalid value {value} for configuration {prefix}{name}: it must be "
                    f"{'one that Kafka knows' if name == OFFSET_RESET else 'a number'}",
                    key=f"{prefix}{name}",
                ) from error
    order_backoffs(found)
    tokens = librdkafka_oauth(read_oauth(java, prefix)) if is_oauth(java) else {}
    return {**found, **_login(java.get("sasl.jaas.config") or ""), **tokens, **_stores(java, prefix)}


def _login(jaas: str) -> dict[str, str]:
    options = login_options(jaas)
    return {key: options[name] for name, key in _LOGIN.items() if name in options}


def _stores(java: Mapping[str, str], prefix: str) -> dict[str, str]:
    found: dict[str, str] = {}
    trust, own = java.get("ssl.truststore.location"), java.get("ssl.keystore.location")
    for store, place in (("truststore", trust), ("keystore", own)):
        if place:
            check_client_file(f"{prefix}ssl.{store}.location", place)
    if trust:
        if java.get("ssl.truststore.type", "JKS").upper() != "PEM":
            raise _unreadable(f"{prefix}ssl.truststore", "PEM")
        found["ssl.ca.location"] = trust
    if own:
        match java.get("ssl.keystore.type", "JKS").upper():
            case "PEM":
                found |= {"ssl.certificate.location": own, "ssl.key.location": own}
            case "PKCS12":
                found["ssl.keystore.location"] = own
            case _:
                raise _unreadable(f"{prefix}ssl.keystore", "PEM or PKCS12")
    return found


def _unreadable(key: str, formats: str) -> ConfigError:
    return ConfigError(
        f"{key}.location must be a {formats} file, with {key}.type saying so: stores that only Java reads "
        "cannot be used here. keytool -exportcert and openssl pkcs12 turn one into the other",
        key=f"{key}.location",
    )
