"""Which topics are created how."""

from collections.abc import Mapping

import pytest
from copycat_connect.config.topic_creation import CreationGroups, NewTopic, creation_groups, creation_warnings
from copycat_connect.errors import ConfigError

DEFAULT = {
    "topic.creation.default.partitions": "3",
    "topic.creation.default.replication.factor": "-1",
}


def read(config: Mapping[str, str], *, strict: bool = False) -> CreationGroups:
    groups = creation_groups({**config}, strict=strict)
    assert groups is not None
    return groups


def test_without_a_key_there_are_no_groups() -> None:
    assert creation_groups({"name": "c"}) is None


def test_the_default_group_takes_every_topic() -> None:
    groups = read(DEFAULT)

    assert groups.new_topic("any") == NewTopic("any", 3, -1, {}, "default")


def test_the_first_group_that_matches_counts() -> None:
    config = {
        **DEFAULT,
        "topic.creation.groups": "logs, all",
        "topic.creation.logs.include": "log-.*",
        "topic.creation.logs.cleanup.policy": "compact",
        "topic.creation.all.include": ".*",
        "topic.creation.all.partitions": "9",
    }
    groups = read(config)

    assert groups.new_topic("log-a") == NewTopic("log-a", 3, -1, {"cleanup.policy": "compact"}, "logs")
    assert groups.new_topic("x").partitions == 9


def test_only_a_full_match_counts_and_an_exclusion_wins() -> None:
    config = {
        **DEFAULT,
        "topic.creation.groups": "a",
        "topic.creation.a.include": "log",
        "topic.creation.a.exclude": "nothing, log2",
        "topic.creation.a.partitions": "1",
    }
    groups = read({**config, "topic.creation.a.include": "log.*"})

    assert read(config).new_topic("log-1").partitions == 3
    assert groups.new_topic("log-1").partitions == 1
    assert groups.new_topic("log2").partitions == 3


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"topic.creation.default.partitions": None}, "Invalid value null"),
        ({"topic.creation.groups": "g"}, r"topic\.creation\.g\.include"),
        ({"topic.creation.default.partitions": "many"}, "Not a number of type INT"),
        ({"topic.creation.default.partitions": "0"}, "Invalid value 0"),
        ({"topic.creation.groups": "g", "topic.creation.g.include": "("}, "Invalid value"),
    ],
)
def test_a_wrong_setting_is_refused(changes: dict[str, str | None], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        creation_groups({**DEFAULT, **changes})


LAYERED = {
    **DEFAULT,
    "topic.creation.default.retention.ms": "1000",
    "topic.creation.groups": "compacted, wide, narrow",
    "topic.creation.compacted.include": "a.*",
    "topic.creation.compacted.cleanup.policy": "compact",
    "topic.creation.wide.include": "a.*",
    "topic.creation.wide.partitions": "9",
    "topic.creation.wide.cleanup.policy": "delete",
    "topic.creation.narrow.include": "b.*",
    "topic.creation.narrow.partitions": "1",
}


def test_a_group_takes_only_sizes_from_the_default_group() -> None:
    assert read(LAYERED).new_topic("a") == NewTopic("a", 3, -1, {"cleanup.policy": "compact"}, "compacted")


def test_strict_groups_add_what_those_before_them_leave_open() -> None:
    configs = {"cleanup.policy": "compact", "retention.ms": "1000"}

    assert read(LAYERED, strict=True).new_topic("a") == NewTopic("a", 9, -1, configs, "compacted")


def test_keys_of_the_default_group_that_do_nothing_are_named() -> None:
    config = {
        **DEFAULT,
        "topic.creation.groups": "default, a",
        "topic.creation.default.include": "x",
        "topic.creation.default.exclude": "y",
    }

    listed, include, exclude = creation_warnings(config)

    assert "lists default" in listed
    assert "topic.creation.default.include has no effect" in include
    assert "topic.creation.default.exclude has no effect" in exclude
    assert not list(creation_warnings(DEFAULT))


def test_the_default_group_must_say_both_sizes() -> None:
    with pytest.raises(ConfigError, match="Missing required configuration"):
        creation_groups({"topic.creation.default.partitions": "3"})


def test_strictly_half_of_the_default_group_asks_for_nothing() -> None:
    half = {"topic.creation.default.partitions": "3"}

    assert creation_groups(half, strict=True) is None
