"""Credentials and certificates of the Java clients in librdkafka's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from copycat_connect.config.jaas import login_options
from copycat_connect.config.oauth import is_oauth, librdkafka_oauth, read_oauth
from copycat_connect.named_files import check_client_file

#: Keys this file reads; all others are renamed one by one.
KEYS: Final = frozenset({
    "sasl.jaas.config", "sasl.oauthbearer.client.credentials.client.id",
    "sasl.oauthbearer.client.credentials.client.secret", "ssl.truststore.location", "ssl.truststore.type",
    "ssl.truststore.password", "ssl.keystore.location", "ssl.keystore.type",
})  # fmt: skip

_STORES: Final = frozenset({"ssl.truststore.location", "ssl.keystore.location"})
_LOGIN_OPTIONS: Final = {
    "username": "sasl.username",
    "password": "sasl.password",
    "principal": "sasl.kerberos.principal",
    "keyTab": "sasl.kerberos.keytab",
}


def security_properties(java: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Translate login module and key stores; also returns the keys that librdkafka has no counterpart for.

    Raises:
        ConfigError: A login with tokens lacks what it needs, or a store is no file that can be read.
    """
    for key in _STORES & java.keys():
        check_client_file(key, java[key])
    properties: dict[str, str] = {}
    unknown: list[str] = []
    if "sasl.jaas.config" in java:
        properties |= _login(java["sasl.jaas.config"])
    if is_oauth(java):
        properties |= librdkafka_oauth(read_oauth(java))
    return properties | _stores(java, unknown), unknown


def _stores(java: Mapping[str, str], unknown: list[str]) -> dict[str, str]:
    properties: dict[str, str] = {}
    if "ssl.truststore.location" in java:
        if java.get("ssl.truststore.type", "JKS").upper() == "PEM":
            properties["ssl.ca.location"] = java["ssl.truststore.location"]
        else:
            unknown.append("ssl.truststore.location")
    if "ssl.keystore.location" in java:
        place = java["ssl.keystore.location"]
        match java.get("ssl.keystore.type", "JKS").upper():
            case "PEM":
                properties |= {"ssl.certificate.location": place, "ssl.key.location": place}
            case "PKCS12":
                properties["ssl.keystore.location"] = place
            case _:
                unknown.append("ssl.keystore.location")
    return properties


def _login(jaas: str) -> dict[str, str]:
    options = login_options(jaas)
    return {key: options[name] for name, key in _LOGIN_OPTIONS.items() if name in options}
