"""Subjects: the names schemas are registered under."""

from __future__ import annotations

from collections.abc import Callable

from copycat_connect.config.setting import ConfigSetting
from copycat_connect.errors import ConfigError, DataError

SubjectName = Callable[[str, bool, str | None], str]
"""Names the subject for a topic, whether keys are meant, and the record's full name, when it has one."""


def check_strategy(key: str, value: ConfigSetting) -> None:
    """Accept the class names of strategies known here, with their package or without."""
    if str(value).rpartition(".")[2] not in _STRATEGIES:
        raise ConfigError(
            f"{key} is {value}, which is not known here: set it to one of {', '.join(_STRATEGIES)}.", key=key
        )


def subject_strategy(class_name: str) -> SubjectName:
    """Return the strategy that `check_strategy` accepted."""
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
