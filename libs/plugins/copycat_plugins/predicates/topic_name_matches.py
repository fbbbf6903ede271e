"""TopicNameMatches: true for records of certain topics."""

from __future__ import annotations

from copycat_connect.cluster import Config
from copycat_connect.config import MEDIUM, all_of, matches_java_regex, non_empty
from copycat_connect.config.settings import Settings, key
from copycat_connect.config.user_pattern import compile_user_pattern
from copycat_connect.data import ConnectRecord
from copycat_connect.plugin import Predicate

from copycat_plugins.predicates.specs import predicate_plugin

_PATTERN = "pattern"
_MAX_REMEMBERED_TOPICS = 1000


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


PLUGIN = predicate_plugin(
    TopicNameMatches,
    "TopicNameMatches",
    "True for records whose topic matches.",
    TopicNameMatchesSettings.config_def(),
    {"Test topics": {"pattern": "test-.*"}},
)
