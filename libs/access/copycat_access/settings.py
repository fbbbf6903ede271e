"""The keys of the worker properties that say who may use Copycat, the same in every process of a cluster."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast
from urllib.parse import urlsplit

from copycat_connect.config import HIGH, INT, LIST, LOW, MEDIUM, STRING, ConfigDef, ConfigKey
from copycat_connect.config.validators import between
from copycat_connect.config.worker_keys import CLUSTER_SECRET
from copycat_connect.errors import ConfigError

ISSUER: Final = "access.token.issuer"
AUDIENCE: Final = "access.token.audience"
JWKS: Final = "access.token.jwks"
CA: Final = "access.token.jwks.ca"
ALGORITHMS: Final = "access.token.algorithms"
SKEW: Final = "access.token.clock.skew.ms"
NAME_CLAIM: Final = "access.token.name.claim"
GROUPS_CLAIM: Final = "access.token.groups.claim"
RULES_FILE: Final = "access.rules.file"
AUDIT_FILE: Final = "access.audit.file"
#: Signatures with a private key only: who checks a token could not make one.
SIGNATURES: Final = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "Ed25519",
)

ACCESS: Final = ConfigDef(
    ConfigKey(
        ISSUER,
        STRING,
        HIGH,
        default=None,
        doc=(
            "Issuer of tokens (OIDC, JWT), exactly as their claim `iss` has it, such as "
            "https://login.example.org/realms/data. With it REST and gRPC accept `Authorization: Bearer "
            "<token>`. Not set: no tokens."
        ),
    ),
    ConfigKey(
        AUDIENCE,
        LIST,
        HIGH,
        default=(),
        doc="Audiences, of which a token's claim `aud` must have one. Required with an issuer.",
    ),
    ConfigKey(
        JWKS,
        STRING,
        MEDIUM,
        default=None,
        doc=(
            "Where the issuer's public keys are (a JWK set): an https URL, or the path of a file, which is "
            "read again when it was changed. Not set: asked of the issuer's "
            "`/.well-known/openid-configuration`."
        ),
    ),
    ConfigKey(
        CA,
        STRING,
        LOW,
        default=None,
        doc="PEM file of the authorities that the issuer's https is trusted by; else those of the system.",
    ),
    ConfigKey(
        ALGORITHMS,
        LIST,
        LOW,
        default=("RS256", "ES256"),
        doc=f"Signature algorithms that are accepted, of {', '.join(SIGNATURES)}.",
    ),
    ConfigKey(
        SKEW,
        INT,
        LOW,
        default=30_000,
        validator=between(0, 300_000),
        doc="Milliseconds by which the issuer's clock and ours may differ where a token begins or ends.",
    ),
    ConfigKey(
        NAME_CLAIM,
        STRING,
        LOW,
        default="sub",
        doc="Claim that is the user's name in rules, logs and the history, such as preferred_username.",
    ),
    ConfigKey(
        GROUPS_CLAIM,
        STRING,
        LOW,
        default="groups",
        doc="Claim with the groups of a user, a list or words; dots lead inwards: realm_access.roles.",
    ),
    ConfigKey(
        RULES_FILE,
        STRING,
        HIGH,
        default=None,
        doc=(
            "TOML file that says which users and groups have which role (viewer, operator, admin) for which "
            "connectors; read again when it was changed. What it does not allow is denied. Not set: whoever "
            "is let in may do everything."
        ),
    ),
    ConfigKey(
        AUDIT_FILE,
        STRING,
        MEDIUM,
        default=None,
        doc=(
            "File that gets a line (JSON) for each request that acts, and each that is denied. Not set: "
            "they stand in the log, of the logger copycat.audit, where somebody has to log in."
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class TokenSettings:
    """How tokens are checked."""

    issuer: str
    """Their `iss`."""
    audiences: Sequence[str]
    """One of them is in their `aud`."""
    jwks: str | None
    """URL or path of the keys; none: the issuer says."""
    ca: str | None
    """PEM file of authorities."""
    algorithms: Sequence[str]
    """Names of the signatures that are accepted, as JWS has them, for example RS256."""
    skew_seconds: float
    """By which clocks may differ."""
    name_claim: str
    """Claim of the user's name."""
    groups_claim: str
    """Claim of the groups."""


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """Who may use Copycat."""

    tokens: TokenSettings | None
    """How tokens are checked; none where none are accepted."""
    rules_file: str | None
    """Path of the rules; without it whoever is let in may do everything."""
    audit_file: str | None
    """Path of the audit lines."""


def read_access(properties: Mapping[str, str]) -> AccessSettings:
    """Read the worker properties.

    Raises:
        ConfigError: A value is wrong, or one is missing.
    """
    parsed = ACCESS.parse(properties)
    key = next((key for key in (ISSUER, RULES_FILE) if parsed[key] is not None), None)
    if key is not None and ConfigDef(CLUSTER_SECRET).parse(properties)[CLUSTER_SECRET.name] is None:
        raise ConfigError(
            f"{key} is set and {CLUSTER_SECRET.name} is not: every user of this machine could go round it by"
            f" calling the services themselves. Set {CLUSTER_SECRET.name} to the same long random text in the"
            " worker properties of all processes of the cluster",
            key=CLUSTER_SECRET.name,
        )
    return AccessSettings(
        tokens=None if parsed[ISSUER] is None else _tokens(parsed),
        rules_file=_text(parsed[RULES_FILE]),
        audit_file=_text(parsed[AUDIT_FILE]),
    )


def _tokens(parsed: Mapping[str, object]) -> TokenSettings:
    issuer, jwks = str(parsed[ISSUER]), _text(parsed[JWKS])
    audiences, algorithms = _strings(parsed[AUDIENCE]), _strings(parsed[ALGORITHMS])
    if not audiences:
        raise ConfigError(
            f"{ISSUER} is set and {AUDIENCE} is not: a token for any other service would be accepted."
            f" Set {AUDIENCE} to the audience that the issuer writes into tokens for Copycat",
            key=AUDIENCE,
        )
    wrong = [each for each in algorithms if each not in SIGNATURES]
    if wrong or not algorithms:
        raise ConfigError(
            f"{ALGORITHMS} has {', '.join(wrong) or 'nothing'}: write some of {', '.join(SIGNATURES)}."
            " Tokens without a signature, and those signed with a shared key, are never accepted",
            key=ALGORITHMS,
        )
    if jwks is None or is_url(jwks):
        check_url(JWKS if jwks else ISSUER, jwks or issuer)
    return TokenSettings(
        issuer,
        audiences,
        jwks,
        _text(parsed[CA]),
        algorithms,
        cast("int", parsed[SKEW]) / 1000,
        str(parsed[NAME_CLAIM]),
        str(parsed[GROUPS_CLAIM]),
    )


def is_url(text: str) -> bool:
    """Return whether keys are asked for over the network."""
    return "://" in text


def check_url(what: str, url: str) -> None:
    """Refuse to fetch keys where anybody on the way could replace them.

    Raises:
        ConfigError: It is neither https nor http of this machine.
    """
    parts = urlsplit(url)
    if parts.scheme == "https" and parts.hostname:
        return
    if parts.scheme == "http" and _is_loopback(parts.hostname or ""):
        return
    raise ConfigError(
        f"{what} has '{parts.scheme or 'no scheme'}' where keys are fetched from: write an https URL, since"
        " whoever could change the keys on their way could let anybody in; http is for 127.0.0.1 only. Keys"
        f" in a file: {JWKS} with its path",
        key=what,
    )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _text(value: object) -> str | None:
    return None if value is None or not str(value).strip() else str(value).strip()


def _strings(value: object) -> tuple[str, ...]:
    return tuple(cast("Sequence[str]", value))
