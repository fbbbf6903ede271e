"""Which topics are created how."""

import pytest
from copycat_connect.errors import ConfigError
from copycat_executor.pipeline.creation import NewTopic, creation_groups, new_topic

DEFAULT = {
    "topic.creation.default.partitions": "3",
    "topic.creation.default.replication.factor": "-1",
}


def test_without_a_key_there_are_no_groups() -> None:
    assert creation_groups({"name": "c"}) == ()


def test_the_default_group_takes_every_topic() -> None:
    groups = creation_groups(DEFAULT)

    assert new_topic(groups, "any") == NewTopic("any", 3, -1, {})


def test_the_first_group_that_matches_counts() -> None:
    config = {
        **DEFAULT,
        "topic.creation.groups": "logs, all",
        "topic.creation.logs.include": "log-.*",
        "topic.creation.logs.cleanup.policy": "compact",
        "topic.creation.all.include": ".*",
        "topic.creation.all.partitions": "9",
    }
    groups = creation_groups(config)

    assert new_topic(groups, "log-a") == NewTopic("log-a", 3, -1, {"cleanup.policy": "compact"})
    assert new_topic(groups, "x").partitions == 9


def test_only_a_full_match_counts_and_an_exclusion_wins() -> None:
    config = {
        **DEFAULT,
        "topic.creation.groups": "a",
        "topic.creation.a.include": "log",
        "topic.creation.a.exclude": "nothing, log2",
        "topic.creation.a.partitions": "1",
    }
    groups = creation_groups({**config, "topic.creation.a.include": "log.*"})

    assert new_topic(creation_groups(config), "log-1").partitions == 3
    assert new_topic(groups, "log-1").partitions == 1
    assert new_topic(groups, "log2").partitions == 3


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"topic.creation.default.partitions": None}, "Missing required configuration"),
        ({"topic.creation.groups": "g"}, r"topic\.creation\.g\.include"),
        ({"topic.creation.default.partitions": "many"}, "Not a number of type INT"),
        ({"topic.creation.default.partitions": "0"}, "Invalid value 0"),
        ({"topic.creation.groups": "g", "topic.creation.g.include": "("}, "Invalid value"),
    ],
)
def test_a_wrong_setting_is_refused(changes: dict[str, str | None], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        creation_groups({**DEFAULT, **changes})
