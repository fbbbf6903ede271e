"""Cross checks of sink connectors: what they read, their dead letter queue, their consumer group."""

from __future__ import annotations

import re
from collections.abc import Iterable, MutableMapping

from copycat_connect.cluster import GROUP_OVERRIDE, Config, sink_group
from copycat_connect.config.framework_names import DLQ_TOPIC, NAME, TOPICS, TOPICS_REGEX
from copycat_connect.config.parsing import parse_type, setting_text
from copycat_connect.config.setting import Type
from copycat_connect.config.user_pattern import PatternTooSlowError, compile_user_pattern
from copycat_connect.config.values import ConfigValue

Found = MutableMapping[str, ConfigValue]


def dead_letter_topic(raw: Config) -> str:
    """Return the dead letter queue's topic; empty without one."""
    return (raw.get(DLQ_TOPIC) or "").strip()


def check_topics(raw: Config, found: Found) -> None:
    """Add errors to what was found unless one of topics and topics.regex is set, clear of the DLQ."""
    topics, regex = (raw.get(TOPICS) or "").strip(), (raw.get(TOPICS_REGEX) or "").strip()
    if topics and regex:
        text = f"{TOPICS} and {TOPICS_REGEX} are mutually exclusive options, but both are set."
        _add(found, (TOPICS, TOPICS_REGEX), text)
    if not topics and not regex:
        _add(found, (TOPICS, TOPICS_REGEX), f"Must configure one of {TOPICS} or {TOPICS_REGEX}")
    dead_letters = dead_letter_topic(raw)
    if dead_letters and topics:
        names = parse_type(TOPICS, topics, Type.LIST)
        if dead_letters in names:
            text = (
                f"The DLQ topic '{dead_letters}' may not be included in the list of topics "
                f"('{TOPICS}={setting_text(names)}') consumed by the connector"
            )
            _add(found, (TOPICS,), text)
    if dead_letters and regex:
        _check_regex(regex, dead_letters, found)


def check_group(raw: Config, found: Found, worker_group: str) -> None:
    """Add an error to what was found when the consumer group is the one of the Connect workers."""
    if GROUP_OVERRIDE in raw:
        group = raw[GROUP_OVERRIDE]
        value = found.setdefault(GROUP_OVERRIDE, ConfigValue(GROUP_OVERRIDE, group))
        if group == worker_group:
            value.errors.append(f"Consumer group {group} conflicts with Connect worker group {worker_group}")
        return
    name = found[NAME].value
    if sink_group(name) == worker_group:
        who = f"Consumer group for sink connector named {name}"
        found[NAME].errors.append(f"{who} conflicts with Connect worker group {worker_group}")


def _check_regex(regex: str, dead_letters: str, found: Found) -> None:
    try:
        matched = compile_user_pattern(TOPICS_REGEX, regex).fullmatch(dead_letters) is not None
    except re.error:
        return  # the validator of the key says so
    except PatternTooSlowError as error:
        _add(found, (TOPICS_REGEX,), error.message)
        return
    if matched:
        text = (
            f"The DLQ topic '{dead_letters}' may not be matched by the regex for the topics "
            f"('{TOPICS_REGEX}={regex}') consumed by the connector"
        )
        _add(found, (TOPICS_REGEX,), text)


def _add(found: Found, names: Iterable[str], text: str) -> None:
    for name in names:
        found[name].errors.append(text)
