"""The keys of every converter with a schema registry: how it is reached, and which schema is written with."""

from __future__ import annotations

from copycat_connect.config import (
    BOOLEAN,
    HIGH,
    INT,
    LIST,
    LOW,
    MEDIUM,
    PASSWORD,
    STRING,
    ConfigKey,
    at_least,
)
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.errors import ConfigError
from copycat_connect.plugin.converters import CONVERTER_TYPE_KEY

from copycat_plugins.converters.registry.subjects import check_strategy

URL = "schema.registry.url"
AUTO_REGISTER = "auto.register.schemas"
USE_LATEST = "use.latest.version"
LATEST_STRICT = "latest.compatibility.strict"
USE_SCHEMA_ID = "use.schema.id"
NORMALIZE = "normalize.schemas"
KEY_STRATEGY = "key.subject.name.strategy"
VALUE_STRATEGY = "value.subject.name.strategy"
BASIC_SOURCE = "basic.auth.credentials.source"
BASIC_USER_INFO = "basic.auth.user.info"
OLD_USER_INFO = "schema.registry.basic.auth.user.info"
BEARER_SOURCE = "bearer.auth.credentials.source"
BEARER_TOKEN = "bearer.auth.token"  # noqa: S105 - a key's name
BEARER_CLUSTER = "bearer.auth.logical.cluster"
BEARER_POOL = "bearer.auth.identity.pool.id"
CONNECT_TIMEOUT = "http.connect.timeout.ms"
READ_TIMEOUT = "http.read.timeout.ms"
MAX_RETRIES = "max.retries"
RETRY_WAIT = "retries.wait.ms"
RETRY_MAX_WAIT = "retries.max.wait.ms"
PROXY_HOST = "proxy.host"
PROXY_PORT = "proxy.port"
SSL = "schema.registry.ssl."
TRUST_STORE = SSL + "truststore.location"
TRUST_TYPE = SSL + "truststore.type"
KEY_STORE = SSL + "keystore.location"
KEY_TYPE = SSL + "keystore.type"
KEY_STORE_PASSWORD = SSL + "keystore.password"
KEY_PASSWORD = SSL + "key.password"
CACHE_SIZE = "schemas.cache.config"

TOPIC_STRATEGY = "io.confluent.kafka.serializers.subject.TopicNameStrategy"


def _check_urls(name: str, value: ConfigSetting) -> None:
    urls: list[str] = value or []
    if not urls or not all(url.startswith(("http://", "https://")) for url in urls):
        # The addresses may hold a password: they are not repeated.
        message = f"{name} must be a list of addresses, each like http://host:port or https://host:port."
        raise ConfigError(message, key=name)


_WRITING = "Schemas"
_SECURITY = "Security"
_NETWORK = "Network"

KEYS = (
    CONVERTER_TYPE_KEY,
    ConfigKey(URL, LIST, HIGH, validator=_check_urls,
              doc="Addresses of the registry, tried in turn, each with its scheme and port."),
    ConfigKey(AUTO_REGISTER, BOOLEAN, MEDIUM, default=True, group=_WRITING,
              doc="Register the schema of a written record when its subject does not have it yet."),
    ConfigKey(USE_LATEST, BOOLEAN, MEDIUM, default=False, group=_WRITING,
              doc="Write with the latest version of the subject, when auto.register.schemas is false, and "
                  "read what is written as that version says."),
    ConfigKey(LATEST_STRICT, BOOLEAN, LOW, default=True, group=_WRITING,
              doc="Refuse to write with a latest version that could not read what the record's own schema "
                  "writes."),
    ConfigKey(USE_SCHEMA_ID, INT, LOW, default=-1, group=_WRITING,
              doc="Write with the schema of this id, when auto.register.schemas is false; -1 for none."),
    ConfigKey(NORMALIZE, BOOLEAN, MEDIUM, default=False, group=_WRITING,
              doc="Let the registry ignore differences without meaning, such as the order of properties."),
    ConfigKey(KEY_STRATEGY, STRING, MEDIUM, default=TOPIC_STRATEGY, group=_WRITING,
              validator=check_strategy,
              doc="Names the subject of a key's schema: TopicNameStrategy, RecordNameStrategy or "
                  "TopicRecordNameStrategy."),
    ConfigKey(VALUE_STRATEGY, STRING, MEDIUM, default=TOPIC_STRATEGY, group=_WRITING,
              validator=check_strategy,
              doc="Names the subject of a value's schema, likewise."),
    ConfigKey(CACHE_SIZE, INT, LOW, default=1000, group=_WRITING,
              doc="The most translated schemas kept ready in each direction."),
    ConfigKey(BASIC_SOURCE, STRING, MEDIUM, default="URL", group=_SECURITY,
              doc="Where name and password are: URL, or USER_INFO for basic.auth.user.info."),
    ConfigKey(BASIC_USER_INFO, PASSWORD, MEDIUM, default="", group=_SECURITY,
              doc="Name and password for the registry, with a colon between them."),
    ConfigKey(OLD_USER_INFO, PASSWORD, MEDIUM, default="", group=_SECURITY,
              doc="The former name of basic.auth.user.info."),
    ConfigKey(BEARER_SOURCE, STRING, MEDIUM, default=None, group=_SECURITY,
              doc="STATIC_TOKEN to send bearer.auth.token; none otherwise."),
    ConfigKey(BEARER_TOKEN, PASSWORD, MEDIUM, default="", group=_SECURITY,
              doc="Token sent with every request."),
    ConfigKey(BEARER_CLUSTER, STRING, MEDIUM, default=None, group=_SECURITY,
              doc="Logical cluster sent beside a token."),
    ConfigKey(BEARER_POOL, STRING, MEDIUM, default=None, group=_SECURITY,
              doc="Identity pool sent beside a token."),
    ConfigKey(TRUST_STORE, STRING, MEDIUM, default=None, group=_SECURITY,
              doc="PEM file of the authorities whose certificates a registry may show; the usual ones "
                  "otherwise."),
    ConfigKey(TRUST_TYPE, STRING, MEDIUM, default="PEM", group=_SECURITY,
              doc="PEM: Java's own key stores cannot be read here."),
    ConfigKey(KEY_STORE, STRING, MEDIUM, default=None, group=_SECURITY,
              doc="PEM file of our certificate and its private key, for registries that want one."),
    ConfigKey(KEY_TYPE, STRING, MEDIUM, default="PEM", group=_SECURITY,
              doc="PEM: Java's own key stores cannot be read here."),
    ConfigKey(KEY_STORE_PASSWORD, PASSWORD, MEDIUM, default=None, group=_SECURITY,
              doc="Password of the private key, where schema.registry.ssl.key.password is not set."),
    ConfigKey(KEY_PASSWORD, PASSWORD, MEDIUM, default=None, group=_SECURITY,
              doc="Password of the private key."),
    ConfigKey(CONNECT_TIMEOUT, INT, LOW, default=60000, validator=at_least(1), group=_NETWORK,
              doc="Milliseconds to wait for a connection."),
    ConfigKey(READ_TIMEOUT, INT, LOW, default=60000, validator=at_least(1), group=_NETWORK,
              doc="Milliseconds to wait for an answer."),
    ConfigKey(MAX_RETRIES, INT, LOW, default=3, validator=at_least(0), group=_NETWORK,
              doc="How often a request is repeated when the registry is away or busy."),
    ConfigKey(RETRY_WAIT, INT, LOW, default=1000, validator=at_least(0), group=_NETWORK,
              doc="The longest wait before the first repetition, in milliseconds; it doubles each time."),
    ConfigKey(RETRY_MAX_WAIT, INT, LOW, default=20000, validator=at_least(0), group=_NETWORK,
              doc="The longest wait before any repetition, in milliseconds."),
    ConfigKey(PROXY_HOST, STRING, LOW, default="", group=_NETWORK,
              doc="Host of a proxy in front of the registry; none when empty."),
    ConfigKey(PROXY_PORT, INT, LOW, default=-1, group=_NETWORK,
              doc="Port of that proxy."),
)  # fmt: skip
