"""RegistrySettings: the parsed keys of a converter with a registry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from copycat_connect.cluster import Config
from copycat_connect.config import ConfigDef, Password
from copycat_connect.errors import ConfigError
from copycat_connect.named_files import check_client_file
from copycat_connect.plugin.converters import CONVERTER_TYPE

from copycat_plugins.converters.registry import keys
from copycat_plugins.converters.registry.subjects import SubjectName, subject_strategy

Parsed = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RegistrySettings:
    """How a converter uses its registry."""

    client: Mapping[str, Any]
    """Configuration of confluent-kafka's client; holds secrets."""
    urls: str
    """The addresses for error texts, without credentials."""
    is_key: bool
    """True when keys are converted."""
    subject: SubjectName
    """Names the subject of a schema."""
    auto_register: bool
    """True when schemas are registered as they come."""
    use_latest: bool
    """True when the latest version of a subject is written with."""
    latest_strict: bool
    """True when that version must be able to read what the value's schema writes."""
    schema_id: int | None
    """The schema to write with; None for none."""
    normalize: bool
    """True when the registry shall ignore differences without meaning."""
    cache_size: int
    """The most translated schemas kept."""


def read_settings(
    definition: ConfigDef, config: Config, *, is_key: bool
) -> tuple[RegistrySettings, dict[str, Any]]:
    """Parse a converter's configuration; also returns every parsed key.

    Raises:
        ConfigError: A key is missing or wrong.
    """
    parsed = definition.parse({CONVERTER_TYPE: "key" if is_key else "value", **config})
    strategy_key = keys.KEY_STRATEGY if is_key else keys.VALUE_STRATEGY
    chosen_id: int = parsed[keys.USE_SCHEMA_ID]
    settings = RegistrySettings(
        client=_client(parsed),
        urls=",".join(map(_without_credentials, parsed[keys.URL])),
        is_key=is_key,
        subject=subject_strategy(parsed[strategy_key]),
        auto_register=parsed[keys.AUTO_REGISTER],
        use_latest=parsed[keys.USE_LATEST],
        latest_strict=parsed[keys.LATEST_STRICT],
        schema_id=chosen_id if chosen_id >= 0 else None,
        normalize=parsed[keys.NORMALIZE],
        cache_size=parsed[keys.CACHE_SIZE],
    )
    return settings, parsed


def _client(parsed: Parsed) -> dict[str, Any]:
    timeouts = (parsed[keys.CONNECT_TIMEOUT] / 1000, *(parsed[keys.READ_TIMEOUT] / 1000,) * 3)
    client = {
        "url": ",".join(parsed[keys.URL]),
        "timeout": timeouts,  # connect, read, write, and a place in the pool
        "max.retries": parsed[keys.MAX_RETRIES],
        "retries.wait.ms": parsed[keys.RETRY_WAIT],
        "retries.max.wait.ms": parsed[keys.RETRY_MAX_WAIT],
        **_credentials(parsed),
        **_certificates(parsed),
    }
    if parsed[keys.PROXY_HOST]:
        client["proxy"] = f"http://{parsed[keys.PROXY_HOST]}:{parsed[keys.PROXY_PORT]}"
    return client


def _credentials(parsed: Parsed) -> dict[str, str]:
    if parsed[keys.BEARER_SOURCE] is not None:
        return _bearer(parsed)
    source = parsed[keys.BASIC_SOURCE].upper()
    if source == "URL":
        return {}
    if source != "USER_INFO":
        message = f"{keys.BASIC_SOURCE} is {source}, which is not known here: set it to URL or USER_INFO."
        raise ConfigError(message, key=keys.BASIC_SOURCE)
    given = parsed[keys.BASIC_USER_INFO].value or parsed[keys.OLD_USER_INFO].value
    if ":" not in given:
        message = (
            f"{keys.BASIC_SOURCE} is USER_INFO and {keys.BASIC_USER_INFO} is not a name and a password "
            "with a colon between them: set it so."
        )
        raise ConfigError(message, key=keys.BASIC_USER_INFO)
    return {"basic.auth.user.info": given}


def _bearer(parsed: Parsed) -> dict[str, str]:
    source = parsed[keys.BEARER_SOURCE].upper()
    if source != "STATIC_TOKEN" or not parsed[keys.BEARER_TOKEN].value:
        message = f"{keys.BEARER_SOURCE} must be STATIC_TOKEN, with the token in {keys.BEARER_TOKEN}."
        raise ConfigError(message, key=keys.BEARER_SOURCE)
    # The client wants a cluster beside every token; registries that know none ignore it.
    bearer = {
        keys.BEARER_SOURCE: source,
        keys.BEARER_TOKEN: parsed[keys.BEARER_TOKEN].value,
        keys.BEARER_CLUSTER: parsed[keys.BEARER_CLUSTER] or "",
    }
    pool = parsed[keys.BEARER_POOL]
    return bearer if pool is None else {**bearer, keys.BEARER_POOL: pool}


def _certificates(parsed: Parsed) -> dict[str, str]:
    for place, kind in ((keys.TRUST_STORE, keys.TRUST_TYPE), (keys.KEY_STORE, keys.KEY_TYPE)):
        if parsed[place] is not None and parsed[kind].upper() != "PEM":
            message = (
                f"{kind} is {parsed[kind]}: only PEM files can be read here. Export the store to PEM, name "
                f"that file in {place}, and set {kind}=PEM."
            )
            raise ConfigError(message, key=kind)
        if parsed[place] is not None:
            check_client_file(place, parsed[place])
    certificates = {}
    if parsed[keys.TRUST_STORE] is not None:
        certificates["ssl.ca.location"] = parsed[keys.TRUST_STORE]
    if parsed[keys.KEY_STORE] is not None:
        certificates |= {"ssl.certificate.location": parsed[keys.KEY_STORE]}
        password: Password | None = parsed[keys.KEY_PASSWORD] or parsed[keys.KEY_STORE_PASSWORD]
        if password is not None:
            certificates["ssl.key.password"] = password.value
    return certificates


def _without_credentials(url: str) -> str:
    scheme, _, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}://{authority.rpartition('@')[2]}{slash}{path}"
