"""Translates client properties of Kafka's Java clients for the two clients used here."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field

from copycat_connect.config.login import (
    MECHANISM,
    OAuthLogin,
    is_oauth,
    librdkafka_oauth,
    login_options,
    read_oauth,
)
from copycat_connect.errors import ConfigError

from copycat_eventlog import pem_stores
from copycat_eventlog.pem_stores import Stores, librdkafka_stores, read_stores
from copycat_eventlog.tokens import TokenProvider

_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", MECHANISM)


@dataclass(frozen=True, slots=True)
class Security:
    """How to connect: what all clients need to know besides the addresses."""

    protocol: str = "PLAINTEXT"
    mechanism: str = "PLAIN"
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    oauth: OAuthLogin | None = None
    """Where tokens come from; there with OAUTHBEARER alone."""
    stores: Stores = field(default_factory=Stores)
    check_host: bool = True

    @property
    def encrypted(self) -> bool:
        """True when the connection uses TLS."""
        return self.protocol.endswith("SSL")

    @property
    def authenticated(self) -> bool:
        """True when the client logs in by SASL."""
        return self.protocol.startswith("SASL")


def read_security(properties: Mapping[str, str]) -> Security:
    """Read the properties of a Java client; PEM stores only, as files or as text (KIP-651).

    Raises:
        ConfigError: A store cannot be used, the mechanism is not PLAIN, SCRAM or OAUTHBEARER, or the login
            lacks what that needs.
    """
    options = login_options(properties.get("sasl.jaas.config", ""))
    security = Security(
        protocol=properties.get("security.protocol", "PLAINTEXT").upper(),
        mechanism=properties.get("sasl.mechanism", "PLAIN").upper(),
        username=options.get("username", properties.get("sasl.username")),
        password=options.get("password", properties.get("sasl.password")),
        oauth=read_oauth(properties) if is_oauth(properties) else None,
        stores=read_stores(properties),
        check_host=properties.get("ssl.endpoint.identification.algorithm", "https") != "",
    )
    if security.authenticated and security.mechanism not in _MECHANISMS:
        raise ConfigError(
            f"sasl.mechanism={security.mechanism} is not supported; use one of {', '.join(_MECHANISMS)}",
            key="sasl.mechanism",
        )
    return security


def tls_context(security: Security) -> ssl.SSLContext | None:
    """Return what Python's own clients encrypt with, or None for plain text.

    Raises:
        ConfigError: A certificate or key cannot be read.
    """
    if not security.encrypted:
        return None
    return pem_stores.tls_context(security.stores, check_host=security.check_host)


def librdkafka_config(bootstrap_servers: str, security: Security) -> dict[str, str | int | bool]:
    """Return the connection part of a confluent-kafka configuration, silent on stderr."""
    given = {
        "security.protocol": security.protocol,
        "sasl.mechanism": security.mechanism if security.authenticated else None,
        "sasl.username": security.username,
        "sasl.password": security.password,
        "ssl.endpoint.identification.algorithm": "https" if security.check_host else "none",
    }
    config: dict[str, str | int | bool] = {key: value for key, value in given.items() if value is not None}
    # Failed connections would be printed for each attempt: every 50 ms by default.
    return (
        config
        | ({} if security.oauth is None else librdkafka_oauth(security.oauth))
        | librdkafka_stores(security.stores)
        | {
            "bootstrap.servers": bootstrap_servers,
            "log_level": 0,
            # Producers ask brokers to create what they miss unless a setting forbids it; see `uncreating`.
            "allow.auto.create.topics": False,
            "reconnect.backoff.max.ms": 1000,
        }
    )


def aiokafka_config(bootstrap_servers: str, security: Security) -> dict[str, object]:
    """Return the connection part of an aiokafka client's arguments."""
    return {
        "bootstrap_servers": [server.strip() for server in bootstrap_servers.split(",")],
        "security_protocol": security.protocol,
        "ssl_context": tls_context(security),
        "sasl_mechanism": security.mechanism,
        "sasl_plain_username": security.username,
        "sasl_plain_password": security.password,
        "sasl_oauth_token_provider": None if security.oauth is None else TokenProvider(security.oauth),
    }


def silence_clients() -> None:
    """Keep aiokafka, Faust and mode quiet: they log thousands of lines while a broker is away.

    What matters reaches the log's user as an error or as the reason of a crash.
    """
    for name in ("aiokafka", "kafka", "faust", "mode"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
