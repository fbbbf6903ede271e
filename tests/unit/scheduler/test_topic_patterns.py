"""Which topics a pattern means."""

from __future__ import annotations

import pytest
from copycat_scheduler.adapters.topics import TopicPattern

HOSTILE = "(a|aa)+$b|orders.*"


def meant(written: str, *topics: str) -> list[str]:
    pattern = TopicPattern(written)
    pattern.look(topics)
    assert pattern.fault is None
    return pattern.topics


def test_a_pattern_means_whole_names_and_never_topics_of_kafka_itself() -> None:
    topics = ("orders", "orders-eu", "reorders", "__consumer_offsets")
    assert meant("orders", *topics) == ["orders"]
    assert meant(".*", *topics) == ["orders", "orders-eu", "reorders"]


def test_a_pattern_is_javas() -> None:
    assert meant(r"\Qa.b\E-\p{Digit}++", "a.b-1", "axb-1") == ["a.b-1"]


def test_a_wrong_pattern_means_nothing() -> None:
    assert meant("(", "a") == []


def test_only_new_topics_are_asked_about() -> None:
    pattern = TopicPattern("a.*")
    assert not pattern.knows(["a", "b"])
    pattern.look(["a", "b"])
    assert pattern.knows(["a", "b"])
    assert pattern.knows(["b"])
    assert pattern.topics == []
    assert not pattern.knows(["b", "ab"])
    pattern.look(["b", "ab"])
    assert pattern.topics == ["ab"]


@pytest.mark.timeout(60)
def test_a_pattern_that_does_not_end_asks_no_more_until_the_topic_is_gone() -> None:
    pattern, hostile = TopicPattern(HOSTILE), "a" * 200
    pattern.look(["orders", hostile, "orders-eu"])
    assert pattern.fault is not None
    assert pattern.fault.startswith(f"topics.regex has '{HOSTILE}'")
    assert f"The topic is {hostile}. Change topics.regex, or delete that topic" in pattern.fault
    assert pattern.topics == ["orders"]
    assert pattern.knows(["orders", hostile, "orders-eu", *map(str, range(1000))])
    assert not pattern.knows(["orders", "orders-eu"])
    assert pattern.fault is None
    pattern.look(["orders", "orders-eu"])
    assert pattern.topics == ["orders", "orders-eu"]


@pytest.mark.timeout(60)
def test_all_topics_together_have_one_limit() -> None:
    # Each of these takes a while, and no single one too long: 200 of them would take a minute.
    pattern = TopicPattern("(a|aa)+$b")
    pattern.look([f"{'a' * 30}{'x' * number}" for number in range(200)])
    assert pattern.fault is not None
