"""Names that Kafka, file systems and REST can have, told apart from those that they cannot."""

from __future__ import annotations

import pytest
from copycat_connect.config import file_name, topic_name, topic_prefix
from copycat_connect.config.validators import topic_names, usable_name
from copycat_connect.errors import ConfigError

NO_TOPICS = ("../../x y", "a b", "a/b", "a\0", "ünï", "a:b", "a,b", "a\n", "${topic}", "a" * 250)


@pytest.mark.parametrize("topic", [*NO_TOPICS, ".", ".."])
def test_what_kafka_allows_no_topic_to_be_called_is_refused(topic: str) -> None:
    for check, value in ((topic_name, topic), (topic_names, ["good", topic])):
        with pytest.raises(ConfigError, match=r"Kafka allows topics up to 249 characters") as refused:
            check("topic", value)
        assert refused.value.fields == {"key": "topic"}


@pytest.mark.parametrize("topic", ["a", "A.b_c-9", "...", "-", "a" * 249, "__consumer_offsets"])
def test_any_other_topic_is_welcome(topic: str) -> None:
    topic_name("topic", topic)
    topic_prefix("topic.prefix", topic)


@pytest.mark.parametrize("prefix", NO_TOPICS)
def test_what_no_topic_begins_with_is_refused(prefix: str) -> None:
    with pytest.raises(ConfigError, match="Kafka allows topics"):
        topic_prefix("topic.prefix", prefix)


def test_a_prefix_may_be_a_dot_and_nothing_names_no_topic() -> None:
    topic_prefix("topic.prefix", ".")
    for check in (topic_name, topic_prefix, topic_names, file_name):
        check("key", None)
        check("key", "")


@pytest.mark.parametrize("file", ["/data/a\0b", "\0", "/data/\ud800"])
def test_what_no_file_can_be_called_is_refused(file: str) -> None:
    with pytest.raises(ConfigError, match="configuration file: no file can have this name"):
        file_name("file", file)


def test_any_other_file_is_welcome() -> None:
    for file in ("/data/ünï code", "relative", "a\nb", "/dev/stdin"):
        file_name("file", file)


@pytest.mark.parametrize("name", [".", "..", "", "a\0b", "\x7f"])
def test_names_that_nobody_could_ask_for_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="for configuration name"):
        usable_name("name", name)
