"""The `ssl.*` keys of whatever listens, read as Kafka Connect reads those of its listeners."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from copycat_connect.config import LIST, LOW, PASSWORD, STRING, ConfigDef, ConfigKey
from copycat_connect.config.setting import ConfigSetting, Password
from copycat_connect.config.validators import one_of_ignoring_case
from copycat_connect.errors import ConfigError

REST_PREFIX: Final = "listeners.https."
ADMIN_PREFIX: Final = "admin.listeners.https."
SERVICES_PREFIX: Final = "services."
PEM: Final = "PEM"
PKCS12: Final = "PKCS12"
CLIENT_AUTH: Final = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}
PROTOCOLS: Final = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
#: They make TLS stricter or another; what cannot be done is refused rather than ignored.
UNSUPPORTED: Final = ("ssl.cipher.suites", "ssl.engine.factory.class")


@dataclass(frozen=True, slots=True)
class CertificateStore:
    """A file of certificates, or the same as PEM text in the properties."""

    name: str
    """What its keys begin with, e.g. `listeners.https.ssl.keystore`."""
    type: str
    """JKS, PKCS12 or PEM, as said; Java reads PKCS12 under the name of JKS too."""
    location: str | None
    password: Password | None
    certificates: Password | None
    """Certificates as PEM text, in place of a file."""

    def key(self, last: str) -> str:
        """Return the full name of one of its keys."""
        return f"{self.name}.{last}"


@dataclass(frozen=True, slots=True)
class Tls:
    """What the keys say; nothing is opened yet."""

    prefix: str
    """What stands before `ssl.`; empty where the plain keys count."""
    keystore: CertificateStore
    key: Password | None
    """The private key as PEM text, in place of a file."""
    key_password: Password | None
    truststore: CertificateStore
    client_auth: ssl.VerifyMode
    """Whether clients show a certificate."""
    protocols: tuple[ssl.TLSVersion, ...]
    """The versions spoken, the oldest first."""


def read_tls(properties: Mapping[str, str], prefix: str, *, client_auth: str = "none") -> Tls:
    """Read the keys with a prefix; only without these, the plain ones.

    `client_auth` is what clients are asked where no key says so.

    Raises:
        ConfigError: A value is wrong, or asks for what cannot be done.
    """
    used = prefix if any(key.startswith(prefix) for key in properties) else ""
    parsed = _definition(used).parse(properties)

    def value(key: str) -> ConfigSetting:
        return parsed[f"{used}ssl.{key}"]

    for key in UNSUPPORTED:
        if properties.get(used + key):
            raise ConfigError(
                f"{used}{key} is set, but not supported for listeners: remove it, or write what they need"
                f" with the prefix {prefix}",
                key=used + key,
            )
    return Tls(
        prefix=used,
        keystore=_store(f"{used}ssl.keystore", parsed, "certificate.chain"),
        key=value("keystore.key"),
        key_password=value("key.password"),
        truststore=_store(f"{used}ssl.truststore", parsed, "certificates"),
        client_auth=CLIENT_AUTH[
            (value("client.auth") or value("client.authentication") or client_auth).lower()
        ],
        protocols=_protocols(f"{used}ssl.enabled.protocols", value("enabled.protocols")),
    )


def _definition(prefix: str) -> ConfigDef:
    secrets = (
        "keystore.password", "keystore.key", "keystore.certificate.chain", "key.password",
        "truststore.password", "truststore.certificates",
    )  # fmt: skip
    types = one_of_ignoring_case("JKS", PKCS12, PEM)
    return ConfigDef(
        *(ConfigKey(f"{prefix}ssl.{name}", PASSWORD, LOW, default=None) for name in secrets),
        *(
            ConfigKey(f"{prefix}ssl.{store}.type", STRING, LOW, default="JKS", validator=types)
            for store in ("keystore", "truststore")
        ),
        *(
            ConfigKey(f"{prefix}ssl.{store}.location", STRING, LOW, default=None)
            for store in ("keystore", "truststore")
        ),
        *(
            ConfigKey(f"{prefix}ssl.client.{name}", STRING, LOW, default=None, validator=_client_auth)
            for name in ("auth", "authentication")
        ),
        ConfigKey(f"{prefix}ssl.enabled.protocols", LIST, LOW, default=tuple(PROTOCOLS)),
    )


def _store(name: str, parsed: Mapping[str, ConfigSetting], certificates: str) -> CertificateStore:
    return CertificateStore(
        name,
        parsed[f"{name}.type"].upper(),
        parsed[f"{name}.location"] or None,
        parsed[f"{name}.password"],
        parsed[f"{name}.{certificates}"],
    )


def _client_auth(name: str, value: ConfigSetting) -> None:
    if value is not None and value.lower() not in CLIENT_AUTH:
        raise ConfigError(f"{name} has '{value}': write one of {', '.join(CLIENT_AUTH)}", key=name)


def _protocols(name: str, value: ConfigSetting) -> tuple[ssl.TLSVersion, ...]:
    unknown = [text for text in value if text not in PROTOCOLS]
    if unknown or not value:
        found = f"has '{unknown[0]}', which is not supported" if unknown else "is empty"
        raise ConfigError(f"{name} {found}: write a list of {' and '.join(PROTOCOLS)}", key=name)
    return tuple(version for text, version in PROTOCOLS.items() if text in value)
