"""Connectors an application adds: their names, and the topics in their configurations."""

from __future__ import annotations

from collections.abc import Mapping

from copycat_connect.errors import ConfigError

CLASS = "connector.class"


def named(app_id: str, config: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return a connector's name and its configuration with it.

    Without a `name` it is made of the app id and the class, so that every copy of an application, and every
    start of it, means the same connector.

    Raises:
        ConfigError: There is neither a name nor a class.
    """
    wrong = sorted(key for key, value in config.items() if not isinstance(value, str))
    if wrong:
        raise ConfigError(
            f"The values of {', '.join(wrong)} are no strings; write for example {wrong[0]!r}: '1'",
            key=wrong[0],
        )
    if not config.get(CLASS):
        raise ConfigError(f"The connector has no {CLASS}. Name one, for example FileStreamSource", key=CLASS)
    name = config.get("name") or f"{app_id}-{config[CLASS].rpartition('.')[2]}"
    return name, {**config, "name": name}


def told_topics(config: Mapping[str, str]) -> frozenset[str]:
    """Return the topics a configuration names; none where only the records show them."""
    if config.get("topics"):
        return frozenset(topic.strip() for topic in config["topics"].split(",") if topic.strip())
    if config.get("topic") and not config.get("transforms"):  # a transformation may rename it
        return frozenset((config["topic"],))
    return frozenset()
