"""What an application says about a connector, and what is made of it."""

from __future__ import annotations

from typing import Any, cast

import pytest
from copycat_connect.errors import ConfigError
from copycat_launcher.embedded import named, told_topics

CLASS = {"connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector"}


def test_every_copy_of_an_application_gives_a_connector_the_same_name() -> None:
    name, config = named("orders", CLASS)
    assert name == "orders-FileStreamSourceConnector"
    assert config == {**CLASS, "name": name}


def test_a_name_that_was_given_stands() -> None:
    assert named("orders", {**CLASS, "name": "lines"})[0] == "lines"


def test_a_value_that_is_no_string_is_refused_by_its_key() -> None:
    with pytest.raises(ConfigError, match=r"values of tasks\.max are no strings"):
        named("orders", cast("Any", {**CLASS, "tasks.max": 1}))


def test_a_connector_without_class_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"has no connector\.class"):
        named("orders", {"name": "lines"})


@pytest.mark.parametrize(
    ("config", "topics"),
    [
        ({"topics": "a, b"}, {"a", "b"}),
        ({"topic": "a"}, {"a"}),
        ({"topic": "a", "transforms": "rename"}, set()),
        ({"topic.prefix": "a-"}, set()),
    ],
)
def test_topics_are_told_only_where_the_records_cannot_change_them(
    config: dict[str, str], topics: set[str]
) -> None:
    assert told_topics(config) == topics
