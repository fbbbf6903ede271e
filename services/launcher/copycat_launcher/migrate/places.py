"""Where the topics of a cluster of Kafka Connect are: named, in the worker's file, or by convention."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from copycat_launcher.migrate.errors import UnreadableClusterError

KINDS = ("config", "offset", "status")
SUFFIXES = {"config": "configs", "offset": "offsets", "status": "status"}


@dataclass(frozen=True, slots=True)
class Place:
    """A cluster in Kafka."""

    client: Mapping[str, str] = field(repr=False)
    """Properties of a Java client: `bootstrap.servers` and how to log in."""
    topics: Mapping[str, str]
    """`config`, `offset` and `status` to the topic that the user named; absent where none was."""
    group: str = ""
    """`group.id` of the workers; empty where nobody said."""

    @property
    def servers(self) -> str:
        """The brokers."""
        return self.client["bootstrap.servers"]


def settle(place: Place, exists: Callable[[str], bool]) -> dict[str, str]:
    """Return the three topics: as named, else `<group.id>-configs` and so on, else `connect-configs`.

    Args:
        place: What the user said.
        exists: Tells whether the brokers know a topic.

    Raises:
        UnreadableClusterError: There is no topic of configurations under any of these names.
    """
    found = {}
    for kind in KINDS:
        named = place.topics.get(kind)
        usual = [f"{group}-{SUFFIXES[kind]}" for group in dict.fromkeys((place.group, "connect")) if group]
        tried = [named] if named else usual
        found[kind] = next((topic for topic in tried if exists(topic)), "")
        if kind == "config" and not found[kind]:
            raise UnreadableClusterError(
                f"Kafka at {place.servers} has no topic {' or '.join(tried)} with connectors' configurations:"
                " name it with --config-topic (the worker's config.storage.topic)"
            )
    return found
