"""TopicNameMatches: true for records of certain topics."""

from __future__ import annotations

from copycat_connect.cluster import Config
from copycat_connect.config import MEDIUM, STRING, ConfigDef, ConfigKey, all_of, matches_java_regex, non_empty
from copycat_connect.config.java_regex import compile_java_regex
from copycat_connect.data import ConnectRecord
from copycat_connect.plugin import Predicate

from copycat_plugins.predicates.specs import predicate_plugin

PATTERN = "pattern"
CONFIG = ConfigDef(
    ConfigKey(
        PATTERN,
        STRING,
        MEDIUM,
        validator=all_of((non_empty, matches_java_regex)),
        doc="Regular expression that the whole topic must match.",
    ),
)


class TopicNameMatches(Predicate):
    """Holds for records whose topic matches an expression as a whole."""

    def configure(self, config: Config) -> None:
        """Compile the expression, in Java's syntax."""
        self._pattern = compile_java_regex(CONFIG.parse(config)[PATTERN])

    def test(self, record: ConnectRecord) -> bool:
        """Return whether the topic matches."""
        return record.topic is not None and self._pattern.fullmatch(record.topic) is not None


PLUGIN = predicate_plugin(
    TopicNameMatches,
    "TopicNameMatches",
    "True for records whose topic matches.",
    CONFIG,
    {"Test topics": {PATTERN: "test-.*"}},
)
