"""Logins of Kafka clients: `sasl.jaas.config`, and tokens by client credentials (KIP-768, KIP-1139)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from copycat_connect.errors import ConfigError

MECHANISM: Final = "OAUTHBEARER"
ENDPOINT: Final = "sasl.oauthbearer.token.endpoint.url"
CLIENT_ID: Final = "sasl.oauthbearer.client.credentials.client.id"
CLIENT_SECRET: Final = "sasl.oauthbearer.client.credentials.client.secret"  # noqa: S105 - the name of a key
SCOPE: Final = "sasl.oauthbearer.scope"
JAAS: Final = "sasl.jaas.config"
_EXTENSION: Final = "extension_"
_OPTION: Final = re.compile(
    r"""(?<![\w.])([\w.]++)\s*+=\s*+(?:"((?:[^"\\]|\\.)*+)"|'((?:[^'\\]|\\.)*+)'|([^\s;"']+))"""
)


@dataclass(frozen=True, slots=True)
class OAuthLogin:
    """Where tokens come from, and who asks for them."""

    endpoint: str
    """URL of the token endpoint, http or https."""
    client_id: str
    """Who asks."""
    client_secret: str = field(repr=False)
    """What it proves itself with."""
    scope: str = ""
    """What the token shall be good for; empty leaves that to the endpoint."""
    extensions: Mapping[str, str] = field(default_factory=dict)
    """What is sent to the broker beside the token (KIP-342)."""


def is_oauth(properties: Mapping[str, str]) -> bool:
    """Return whether a client logs in with tokens."""
    return properties.get("sasl.mechanism", "").upper() == MECHANISM and properties.get(
        "security.protocol", ""
    ).upper().startswith("SASL")


def read_oauth(properties: Mapping[str, str], prefix: str = "") -> OAuthLogin:
    """Read the properties of a Java client; the options of its login module win over keys of its own.

    Args:
        properties: Named as in Kafka's Java clients.
        prefix: Where they stand in a configuration, for the text of an error.

    Raises:
        ConfigError: There is no endpoint, or nobody to ask it as.
    """
    options = login_options(properties.get(JAAS) or "")
    endpoint = (properties.get(ENDPOINT) or "").strip()
    if urlsplit(endpoint).scheme not in {"http", "https"}:
        state = f"has '{endpoint}'" if endpoint else "is not set"
        raise ConfigError(
            f"{prefix}{ENDPOINT} {state}: with sasl.mechanism={MECHANISM} write the http(s) URL that gives"
            " tokens",
            key=prefix + ENDPOINT,
        )
    client_id = options.get("clientId") or properties.get(CLIENT_ID)
    secret = options.get("clientSecret") or properties.get(CLIENT_SECRET)
    return OAuthLogin(
        endpoint,
        _needed(client_id, "clientId", CLIENT_ID, prefix),
        _needed(secret, "clientSecret", CLIENT_SECRET, prefix),
        options.get("scope") or properties.get(SCOPE) or "",
        {
            name.removeprefix(_EXTENSION): value
            for name, value in options.items()
            if name.startswith(_EXTENSION)
        },
    )


def _needed(value: str | None, option: str, key: str, prefix: str) -> str:
    if not value:
        raise ConfigError(
            f"{prefix}{JAAS} has no {option}, and {prefix}{key} is not set: sasl.mechanism={MECHANISM} needs"
            " one of them. Tokens that nobody signed (unsecuredLoginStringClaim_*) are not made here",
            key=prefix + JAAS,
        )
    return value


def librdkafka_oauth(login: OAuthLogin) -> dict[str, str]:
    """Return the login in librdkafka's words, which then asks for tokens by itself."""
    given = {
        "sasl.oauthbearer.method": "oidc",
        ENDPOINT: login.endpoint,
        "sasl.oauthbearer.client.id": login.client_id,
        "sasl.oauthbearer.client.secret": login.client_secret,
        SCOPE: login.scope,
        "sasl.oauthbearer.extensions": ",".join(f"{name}={text}" for name, text in login.extensions.items()),
    }
    return {key: value for key, value in given.items() if value}


def login_options(jaas: str) -> dict[str, str]:
    r"""Return the options of a login module; in quotes, `\` stands before a quote or another `\`."""
    return {
        name: re.sub(r"\\(.)", r"\1", double or single) or bare
        for name, double, single, bare in _OPTION.findall(jaas)
    }
