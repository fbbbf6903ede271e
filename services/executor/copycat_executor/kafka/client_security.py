"""Credentials and certificates of the Java clients in librdkafka's words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

#: Keys this file reads; all others are renamed one by one.
KEYS: Final = frozenset({
    "sasl.jaas.config", "ssl.truststore.location", "ssl.truststore.type", "ssl.truststore.password",
    "ssl.keystore.location", "ssl.keystore.type",
})  # fmt: skip

_OPTION = re.compile(r"""([\w.]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s;]+))""")

_LOGIN_OPTIONS: Final = {
    "username": "sasl.username",
    "password": "sasl.password",
    "principal": "sasl.kerberos.principal",
    "keyTab": "sasl.kerberos.keytab",
    "clientId": "sasl.oauthbearer.client.id",
    "clientSecret": "sasl.oauthbearer.client.secret",
    "scope": "sasl.oauthbearer.scope",
}


def security_properties(java: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Translate login module and key stores; also returns the keys that librdkafka has no counterpart for."""
    properties: dict[str, str] = {}
    unknown: list[str] = []
    if "sasl.jaas.config" in java:
        properties |= _login(java["sasl.jaas.config"])
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
    return properties, unknown


def _login(jaas: str) -> dict[str, str]:
    properties: dict[str, str] = {}
    for name, double, single, bare in _OPTION.findall(jaas):
        key = _LOGIN_OPTIONS.get(name)
        if key is not None:
            properties[key] = re.sub(r"\\(.)", r"\1", double or single) or bare
    if "OAuthBearerLoginModule" in jaas and "sasl.oauthbearer.client.id" in properties:
        properties["sasl.oauthbearer.method"] = "oidc"
    return properties
