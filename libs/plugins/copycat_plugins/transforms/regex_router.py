"""RegexRouter: renames topics by a regular expression."""

from __future__ import annotations

from typing import TypeVar

from copycat_connect.cluster import Config
from copycat_connect.config import HIGH, matches_java_regex
from copycat_connect.config.settings import Settings, key
from copycat_connect.config.user_pattern import compile_user_pattern
from copycat_connect.data import ConnectRecord
from copycat_connect.plugin import Transformation

from copycat_plugins.transforms.replacement import expand
from copycat_plugins.transforms.sides import plain_plugin

R = TypeVar("R", bound=ConnectRecord)
_REGEX = "regex"
_MAX_REMEMBERED_TOPICS = 1000


class RegexRouterSettings(Settings):
    """Which topics are renamed, and how."""

    regex: str = key(
        HIGH, name=_REGEX, check=matches_java_regex, doc="Expression that the whole topic must match."
    )
    replacement: str = key(HIGH, doc="New topic; $1 stands for the first group.")


class RegexRouter(Transformation):
    """Sends records whose topic matches to another one."""

    def configure(self, config: Config) -> None:
        """Use the expression and the replacement."""
        settings = RegexRouterSettings.parse(config)
        self._regex = compile_user_pattern(_REGEX, settings.regex)
        self._replacement = settings.replacement
        # Most tasks see few topics.
        self._known: dict[str, str] = {}

    def apply(self, record: R) -> R | None:
        """Return the record with its new topic."""
        return record.replace(topic=self._route(record.topic))

    def apply_in_place(self, record: R) -> R | None:
        """Change the topic of the record."""
        record.topic = self._route(record.topic)
        return record

    def _route(self, topic: str) -> str:
        known = self._known.get(topic)
        if known is None:
            if len(self._known) >= _MAX_REMEMBERED_TOPICS:
                self._known.clear()
            known = self._known[topic] = self._renamed(topic)
        return known

    def _renamed(self, topic: str) -> str:
        # What is found first may be less than the whole, which is how Java replaces.
        if self._regex.fullmatch(topic) is None or (found := self._regex.search(topic)) is None:
            return topic
        return topic[: found.start()] + expand(self._replacement, found) + topic[found.end() :]


PLUGIN = plain_plugin(
    RegexRouter,
    "RegexRouter",
    "Renames topics by a regular expression.",
    RegexRouterSettings.config_def(),
    {"Without a suffix": {"regex": "(.*)-raw", "replacement": "$1"}},
)
