"""What sinks read."""

import pytest
from copycat_connect.cluster import TopicPartition
from copycat_scheduler.domain.partitions import Subscription, divide, partitions_of, subscription_of
from hypothesis import given
from hypothesis import strategies as st

PARTITIONS = st.sets(st.builds(TopicPartition, st.sampled_from("stuv"), st.integers(0, 12)), max_size=30)


@pytest.mark.parametrize(
    ("config", "subscription"),
    [
        ({"topics": "a, b,,c"}, Subscription(frozenset("abc"))),
        ({"topics.regex": "a.*"}, Subscription(pattern="a.*")),
        ({"topics": "", "topics.regex": "a.*"}, Subscription(pattern="a.*")),
        ({"topic": "a"}, None),
        ({"topics": None}, None),
    ],
)
def test_a_configuration_says_what_a_sink_reads(
    config: dict[str, str | None], subscription: Subscription | None
) -> None:
    assert subscription_of(config) == subscription


def test_named_topics_are_read_as_far_as_they_exist() -> None:
    found = partitions_of({"b", "a", "none"}, {"a": 1, "b": 2, "c": 9})
    assert found == (TopicPartition("a", 0), TopicPartition("b", 0), TopicPartition("b", 1))


def test_nothing_is_divided_among_no_tasks() -> None:
    assert divide([TopicPartition("t", 0)], 0, {}) == []


@given(PARTITIONS, st.integers(1, 8))
def test_a_first_division_deals_one_by_one(partitions: set[TopicPartition], tasks: int) -> None:
    ordered = sorted(partitions)
    assert divide(partitions, tasks, {}) == [tuple(ordered[task::tasks]) for task in range(tasks)]


@given(PARTITIONS, PARTITIONS, st.integers(1, 8), st.integers(1, 8))
def test_a_later_division_is_even_complete_and_keeps_what_it_can(
    before: set[TopicPartition], after: set[TopicPartition], old_tasks: int, tasks: int
) -> None:
    current = dict(enumerate(divide(before, old_tasks, {})))
    divided = divide(after, tasks, current)
    assert sorted(p for each in divided for p in each) == sorted(after)
    sizes = [len(each) for each in divided]
    assert max(sizes) - min(sizes) < 2
    assert divide(after, tasks, dict(enumerate(divided))) == divided
    for task, has in enumerate(divided):
        stays = after.intersection(current.get(task, ()))
        assert len(stays.intersection(has)) >= min(len(stays), len(after) // tasks)


@given(PARTITIONS, st.integers(1, 8), st.integers(0, 7))
def test_a_task_that_gave_up_its_partitions_gets_the_same_back(
    partitions: set[TopicPartition], tasks: int, moving: int
) -> None:
    divided = divide(partitions, tasks, {})
    others = {task: has for task, has in enumerate(divided) if task != moving}
    assert divide(partitions, tasks, others) == divided
