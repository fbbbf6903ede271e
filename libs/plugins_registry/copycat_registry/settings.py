"""RegistrySettings: how a converter reaches its schema registry, and which schema it writes with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from copycat_connect.config import HIGH, LOW, MEDIUM, STRING, Password, at_least
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.config.settings import key
from copycat_connect.errors import ConfigError, DataError
from copycat_connect.files import check_client_file
from copycat_connect.plugin.converters import ConverterSettings

SubjectName = Callable[[str, bool, str | None], str]
"""Names the subject for a topic, whether keys are meant, and the record's full name, when it has one."""


def _check_strategy(key: str, value: ConfigSetting) -> None:
    """Accept the class names of strategies known here, with their package or without."""
    if str(value).rpartition(".")[2] not in _STRATEGIES:
        raise ConfigError(
            f"{key} is {value}, which is not known here: set it to one of {', '.join(_STRATEGIES)}.", key=key
        )


def subject_strategy(class_name: str) -> SubjectName:
    """Return the strategy that was accepted."""
    return _STRATEGIES[class_name.rpartition(".")[2]]


def _by_topic(topic: str, is_key: bool, record: str | None) -> str:
    del record
    return f"{topic}-{'key' if is_key else 'value'}"


def _by_record(topic: str, is_key: bool, record: str | None) -> str:
    if record is None:
        side = "key" if is_key else "value"
        raise DataError(
            f"The {side} of a record of topic {topic} is no record with a name, so that {side}.subject.name."
            f"strategy cannot name its subject: write structs, or set the strategy to TopicNameStrategy.",
            topic=topic,
        )
    return record


def _by_topic_and_record(topic: str, is_key: bool, record: str | None) -> str:
    return f"{topic}-{_by_record(topic, is_key, record)}"


_STRATEGIES: dict[str, SubjectName] = {
    "TopicNameStrategy": _by_topic,
    "RecordNameStrategy": _by_record,
    "TopicRecordNameStrategy": _by_topic_and_record,
}


URL = "schema.registry.url"
LATEST_STRICT = "latest.compatibility.strict"
BASIC_SOURCE = "basic.auth.credentials.source"
BASIC_USER_INFO = "basic.auth.user.info"
_BEARER_SOURCE = "bearer.auth.credentials.source"
_BEARER_TOKEN = "bearer.auth.token"  # noqa: S105 - a key's name
_BEARER_CLUSTER = "bearer.auth.logical.cluster"
_BEARER_POOL = "bearer.auth.identity.pool.id"
SSL = "schema.registry.ssl."
TRUST_STORE = SSL + "truststore.location"
_TRUST_TYPE = SSL + "truststore.type"
_KEY_STORE = SSL + "keystore.location"
_KEY_TYPE = SSL + "keystore.type"

_TOPIC_STRATEGY = "io.confluent.kafka.serializers.subject.TopicNameStrategy"
_WRITING = "Schemas"
_SECURITY = "Security"
_NETWORK = "Network"


def _check_urls(name: str, value: ConfigSetting) -> None:
    urls: list[str] = value or []
    if not urls or not all(url.startswith(("http://", "https://")) for url in urls):
        # The addresses may hold a password: they are not repeated.
        raise ConfigError(
            f"{name} must be a list of addresses, each like http://host:port or https://host:port.", key=name
        )


class RegistrySettings(ConverterSettings):
    """The keys of every converter with a registry."""

    url: tuple[str, ...] = key(
        HIGH,
        name=URL,
        check=_check_urls,
        doc="Addresses of the registry, tried in turn, each with its scheme and port.",
    )
    auto_register: bool = key(
        MEDIUM,
        name="auto.register.schemas",
        default=True,
        group=_WRITING,
        doc="Register the schema of a written record when its subject does not have it yet.",
    )
    use_latest: bool = key(
        MEDIUM,
        name="use.latest.version",
        default=False,
        group=_WRITING,
        doc="Write with the latest version of the subject, when auto.register.schemas is false, and read "
        "what is written as that version says.",
    )
    latest_strict: bool = key(
        LOW,
        name=LATEST_STRICT,
        default=True,
        group=_WRITING,
        doc="Refuse to write with a latest version that could not read what the record's own schema writes.",
    )
    schema_id: int | None = key(
        LOW,
        name="use.schema.id",
        default=-1,
        read=lambda chosen: chosen if chosen >= 0 else None,
        group=_WRITING,
        doc="Write with the schema of this id, when auto.register.schemas is false; -1 for none.",
    )
    normalize: bool = key(
        MEDIUM,
        name="normalize.schemas",
        default=False,
        group=_WRITING,
        doc="Let the registry ignore differences without meaning, such as the order of properties.",
    )
    key_subject: SubjectName = key(
        MEDIUM,
        name="key.subject.name.strategy",
        type=STRING,
        default=_TOPIC_STRATEGY,
        check=_check_strategy,
        read=subject_strategy,
        group=_WRITING,
        doc="Names the subject of a key's schema: TopicNameStrategy, RecordNameStrategy or "
        "TopicRecordNameStrategy.",
    )
    value_subject: SubjectName = key(
        MEDIUM,
        name="value.subject.name.strategy",
        type=STRING,
        default=_TOPIC_STRATEGY,
        check=_check_strategy,
        read=subject_strategy,
        group=_WRITING,
        doc="Names the subject of a value's schema, likewise.",
    )
    cache_size: int = key(
        LOW,
        name="schemas.cache.config",
        default=1000,
        group=_WRITING,
        doc="The most translated schemas kept ready in each direction.",
    )
    basic_source: str = key(
        MEDIUM,
        name=BASIC_SOURCE,
        default="URL",
        group=_SECURITY,
        doc="Where name and password are: URL, or USER_INFO for basic.auth.user.info.",
    )
    basic_user_info: Password = key(
        MEDIUM,
        name=BASIC_USER_INFO,
        default="",
        group=_SECURITY,
        doc="Name and password for the registry, with a colon between them.",
    )
    former_user_info: Password = key(
        MEDIUM,
        name="schema.registry.basic.auth.user.info",
        default="",
        group=_SECURITY,
        doc="The former name of basic.auth.user.info.",
    )
    bearer_source: str | None = key(
        MEDIUM,
        name=_BEARER_SOURCE,
        default=None,
        group=_SECURITY,
        doc="STATIC_TOKEN to send bearer.auth.token; none otherwise.",
    )
    bearer_token: Password = key(
        MEDIUM, name=_BEARER_TOKEN, default="", group=_SECURITY, doc="Token sent with every request."
    )
    bearer_cluster: str | None = key(
        MEDIUM,
        name=_BEARER_CLUSTER,
        default=None,
        group=_SECURITY,
        doc="Logical cluster sent beside a token.",
    )
    bearer_pool: str | None = key(
        MEDIUM, name=_BEARER_POOL, default=None, group=_SECURITY, doc="Identity pool sent beside a token."
    )
    trust_store: str | None = key(
        MEDIUM,
        name=TRUST_STORE,
        default=None,
        group=_SECURITY,
        doc="PEM file of the authorities whose certificates a registry may show; the usual ones otherwise.",
    )
    trust_type: str = key(
        MEDIUM,
        name=_TRUST_TYPE,
        default="PEM",
        group=_SECURITY,
        doc="PEM: Java's own key stores cannot be read here.",
    )
    key_store: str | None = key(
        MEDIUM,
        name=_KEY_STORE,
        default=None,
        group=_SECURITY,
        doc="PEM file of our certificate and its private key, for registries that want one.",
    )
    key_type: str = key(
        MEDIUM,
        name=_KEY_TYPE,
        default="PEM",
        group=_SECURITY,
        doc="PEM: Java's own key stores cannot be read here.",
    )
    key_store_password: Password | None = key(
        MEDIUM,
        name=SSL + "keystore.password",
        default=None,
        group=_SECURITY,
        doc="Password of the private key, where schema.registry.ssl.key.password is not set.",
    )
    key_password: Password | None = key(
        MEDIUM,
        name=SSL + "key.password",
        default=None,
        group=_SECURITY,
        doc="Password of the private key.",
    )
    connect_timeout: int = key(
        LOW,
        name="http.connect.timeout.ms",
        default=60000,
        check=at_least(1),
        group=_NETWORK,
        doc="Milliseconds to wait for a connection.",
    )
    read_timeout: int = key(
        LOW,
        name="http.read.timeout.ms",
        default=60000,
        check=at_least(1),
        group=_NETWORK,
        doc="Milliseconds to wait for an answer.",
    )
    max_retries: int = key(
        LOW,
        default=3,
        check=at_least(0),
        group=_NETWORK,
        doc="How often a request is repeated when the registry is away or busy.",
    )
    retry_wait: int = key(
        LOW,
        name="retries.wait.ms",
        default=1000,
        check=at_least(0),
        group=_NETWORK,
        doc="The longest wait before the first repetition, in milliseconds; it doubles each time.",
    )
    retry_max_wait: int = key(
        LOW,
        name="retries.max.wait.ms",
        default=20000,
        check=at_least(0),
        group=_NETWORK,
        doc="The longest wait before any repetition, in milliseconds.",
    )
    proxy_host: str = key(
        LOW,
        default="",
        group=_NETWORK,
        doc="Host of a proxy in front of the registry; none when empty.",
    )
    proxy_port: int = key(LOW, default=-1, group=_NETWORK, doc="Port of that proxy.")

    @property
    def shown_urls(self) -> str:
        """The addresses for error texts, without credentials."""
        return ",".join(map(_without_credentials, self.url))

    def client_config(self) -> dict[str, Any]:
        """Return the configuration of confluent-kafka's client; holds secrets.

        Raises:
            ConfigError: Credentials or certificates are missing or wrong.
        """
        client = {
            "url": ",".join(self.url),
            # connect, read, write, and a place in the pool
            "timeout": (self.connect_timeout / 1000, *(self.read_timeout / 1000,) * 3),
            "max.retries": self.max_retries,
            "retries.wait.ms": self.retry_wait,
            "retries.max.wait.ms": self.retry_max_wait,
            **self._credentials(),
            **self._certificates(),
        }
        if self.proxy_host:
            client["proxy"] = f"http://{self.proxy_host}:{self.proxy_port}"
        return client

    def _credentials(self) -> dict[str, str]:
        if self.bearer_source is not None:
            return self._bearer(self.bearer_source.upper())
        source = self.basic_source.upper()
        if source == "URL":
            return {}
        if source != "USER_INFO":
            raise ConfigError(
                f"{BASIC_SOURCE} is {source}, which is not known here: set it to URL or USER_INFO.",
                key=BASIC_SOURCE,
            )
        given = self.basic_user_info.value or self.former_user_info.value
        if ":" not in given:
            raise ConfigError(
                f"{BASIC_SOURCE} is USER_INFO and {BASIC_USER_INFO} is not a name and a password "
                "with a colon between them: set it so.",
                key=BASIC_USER_INFO,
            )
        return {"basic.auth.user.info": given}

    def _bearer(self, source: str) -> dict[str, str]:
        if source != "STATIC_TOKEN" or not self.bearer_token.value:
            raise ConfigError(
                f"{_BEARER_SOURCE} must be STATIC_TOKEN, with the token in {_BEARER_TOKEN}.",
                key=_BEARER_SOURCE,
            )
        # The client wants a cluster beside every token; registries that know none ignore it.
        bearer = {
            _BEARER_SOURCE: source,
            _BEARER_TOKEN: self.bearer_token.value,
            _BEARER_CLUSTER: self.bearer_cluster or "",
        }
        return bearer if self.bearer_pool is None else {**bearer, _BEARER_POOL: self.bearer_pool}

    def _certificates(self) -> dict[str, str]:
        _check_store(TRUST_STORE, self.trust_store, _TRUST_TYPE, self.trust_type)
        _check_store(_KEY_STORE, self.key_store, _KEY_TYPE, self.key_type)
        certificates = {}
        if self.trust_store is not None:
            certificates["ssl.ca.location"] = self.trust_store
        if self.key_store is not None:
            certificates["ssl.certificate.location"] = self.key_store
            password = self.key_password or self.key_store_password
            if password is not None:
                certificates["ssl.key.password"] = password.value
        return certificates


def _check_store(place: str, file: str | None, kind: str, form: str) -> None:
    if file is None:
        return
    if form.upper() != "PEM":
        raise ConfigError(
            f"{kind} is {form}: only PEM files can be read here. Export the store to PEM, name "
            f"that file in {place}, and set {kind}=PEM.",
            key=kind,
        )
    check_client_file(place, file)


def _without_credentials(url: str) -> str:
    scheme, _, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}://{authority.rpartition('@')[2]}{slash}{path}"
