"""Predicates: conditions on records, under which a transformation applies."""

from __future__ import annotations

from functools import partial

from copycat_connect.cluster import Config
from copycat_connect.config import MEDIUM, ConfigDef, all_of, matches_java_regex, non_empty
from copycat_connect.config.settings import Settings, key
from copycat_connect.config.user_pattern import compile_user_pattern
from copycat_connect.data import ConnectRecord
from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import PluginKind, PluginSpec, Predicate

_PACKAGE = "org.apache.kafka.connect.transforms.predicates"
_PATTERN = "pattern"
_MAX_REMEMBERED_TOPICS = 1000


class HasHeaderKeySettings(Settings):
    """Which header a record must have."""

    name: str = key(MEDIUM, check=non_empty, doc="Name of the header.")


class HasHeaderKey(Predicate):
    """Looks for a header by its exact name."""

    def configure(self, config: Config) -> None:
        """Read the name of the header to look for."""
        self._name = HasHeaderKeySettings.parse(config).name

    def test(self, record: ConnectRecord) -> bool:
        """Return whether there is one."""
        return record.has_headers and record.headers.last_with_name(self._name) is not None


class RecordIsTombstone(Predicate):
    """Looks at the converted value; the key does not matter."""

    def test(self, record: ConnectRecord) -> bool:
        """Return whether the value is null."""
        return record.value is None


class TopicNameMatchesSettings(Settings):
    """Which topics are meant."""

    pattern: str = key(
        MEDIUM,
        name=_PATTERN,
        check=all_of((non_empty, matches_java_regex)),
        doc="Regular expression that the whole topic must match.",
    )


class TopicNameMatches(Predicate):
    """Holds for records whose topic matches an expression as a whole."""

    def configure(self, config: Config) -> None:
        """Compile the expression, in Java's syntax."""
        self._pattern = compile_user_pattern(_PATTERN, TopicNameMatchesSettings.parse(config).pattern)
        # Most tasks see few topics.
        self._known: dict[str, bool] = {}

    def test(self, record: ConnectRecord) -> bool:
        """Return whether the topic matches."""
        topic = record.topic
        if topic is None:
            return False
        known = self._known.get(topic)
        if known is None:
            if len(self._known) >= _MAX_REMEMBERED_TOPICS:
                self._known.clear()
            known = self._known[topic] = self._pattern.fullmatch(topic) is not None
        return known


_of_kafka = partial(PluginSpec, kind=PluginKind.PREDICATE, version=KAFKA_VERSION)

PLUGINS = (
    _of_kafka(
        class_name=f"{_PACKAGE}.HasHeaderKey",
        summary="True for records with a certain header.",
        config=HasHeaderKeySettings.config_def(),
        factory=HasHeaderKey,
        examples={"Tests": {"name": "x-test"}},
    ),
    _of_kafka(
        class_name=f"{_PACKAGE}.RecordIsTombstone",
        summary="True for records without a value.",
        config=ConfigDef(),
        factory=RecordIsTombstone,
    ),
    _of_kafka(
        class_name=f"{_PACKAGE}.TopicNameMatches",
        summary="True for records whose topic matches.",
        config=TopicNameMatchesSettings.config_def(),
        factory=TopicNameMatches,
        examples={"Test topics": {"pattern": "test-.*"}},
    ),
)
