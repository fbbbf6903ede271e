"""What a cluster has: instances with their names, groups of sinks, topics that are made and made anew."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

import pytest
from copycat_connect.cluster import (
    GROUP_OVERRIDE,
    GRPC_PORTS,
    INITIAL_STATES,
    Config,
    Instance,
    TargetState,
    default_address,
    in_order,
    is_wildcard,
    sink_group,
)
from copycat_connect.config.topic_creation import CreationGroups, NewTopic, creation_groups, creation_warnings
from copycat_connect.config.worker_keys import addresses_key, listen_key
from copycat_connect.errors import ConfigError
from copycat_connect.topic_ids import Described, TopicIds


def test_a_connector_is_named_by_itself_and_a_task_with_its_number() -> None:
    assert str(Instance("orders")) == "orders"
    assert f"{Instance('orders', 0)}" == "orders-0"


def test_a_connector_comes_before_its_tasks_and_tasks_come_by_number() -> None:
    given = [Instance("b"), Instance("a", 10), Instance("a", 9), Instance("a")]

    assert in_order(given) == [Instance("a"), Instance("a", 9), Instance("a", 10), Instance("b")]


def test_the_initial_states_of_a_request_are_target_states_but_for_running() -> None:
    assert dict(INITIAL_STATES) == {
        "RUNNING": TargetState.STARTED,
        "PAUSED": TargetState.PAUSED,
        "STOPPED": TargetState.STOPPED,
    }


@pytest.mark.parametrize("config", [{}, {GROUP_OVERRIDE: None}, {GROUP_OVERRIDE: ""}, {GROUP_OVERRIDE: "  "}])
def test_a_sink_has_a_group_of_its_own_name(config: Config) -> None:
    assert sink_group("orders", config) == "connect-orders"


def test_a_sink_may_name_its_group() -> None:
    assert sink_group("orders", {GROUP_OVERRIDE: " mine "}) == "mine"


@pytest.mark.parametrize("host", ["", "0.0.0.0", "::", "[::]"])  # noqa: S104 - asked about, not bound
def test_a_host_that_stands_for_every_address_cannot_be_reached(host: str) -> None:
    assert is_wildcard(host)


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "executor-1"])
def test_another_host_can_be_reached(host: str) -> None:
    assert not is_wildcard(host)


@pytest.mark.parametrize("role", GRPC_PORTS)
def test_a_role_listens_where_the_others_look_for_it(role: str) -> None:
    assert listen_key(role).default == default_address(role)
    assert addresses_key(role).default == [default_address(role)]


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


@dataclass
class Topic:
    """An answer."""

    topic_id: object


class Cluster:
    """Answers at once; what it answers may change between two looks."""

    def __init__(self, **ids: str) -> None:
        self.ids: dict[str, str] = ids
        self.looks = 0

    def ask(self, topics: Sequence[str]) -> Mapping[str, Future[Described]]:
        self.looks += 1
        return {topic: self._answer(topic) for topic in topics}

    def _answer(self, topic: str) -> Future[Described]:
        answer: Future[Described] = Future()
        if topic in self.ids:
            answer.set_result(Topic(self.ids[topic]))
        else:
            answer.set_exception(KeyError(topic))
        return answer


def test_a_topic_with_another_id_is_told_once() -> None:
    cluster = Cluster(a="one", b="two")
    ids = TopicIds(cluster.ask, 60.0)
    ids.begin(["a", "b", "a"])
    assert ids.replaced(wait=True) == set()

    cluster.ids["a"] = "three"

    assert ids.replaced(wait=True) == {"a"}
    assert ids.replaced(wait=True) == set()


def test_an_answer_that_is_late_is_waited_for_once() -> None:
    late: list[Future[Described]] = []

    def ask(topics: Sequence[str]) -> Mapping[str, Future[Described]]:
        late.append(Future())
        return dict.fromkeys(topics, late[-1])

    ids = TopicIds(ask, 60.0)
    ids.begin(["a"])
    late[-1].set_result(Topic("one"))
    began = time.monotonic()
    for _ in range(100):
        assert ids.replaced(wait=True) == set()
    assert time.monotonic() - began < 60  # 200 s, were each of them waited for
    assert len(late) == 2
    late[-1].set_result(Topic("another"))

    def answer() -> None:
        if not late[-1].done():
            late[-1].set_result(Topic("another"))

    later = threading.Timer(0.2, answer)
    later.start()
    assert ids.replaced(wait=True) == {"a"}
    later.join()
    assert len(late) == 3


def test_a_topic_that_is_missing_for_a_while_is_compared_with_what_it_was_before() -> None:
    cluster = Cluster(a="one", b="two")
    ids = TopicIds(cluster.ask, 60.0)
    ids.begin(["a", "b"])
    assert ids.replaced(wait=True) == set()

    cluster.ids = {}
    assert ids.replaced(wait=True) == set()
    cluster.ids = {"a": "another", "b": "two"}

    assert ids.replaced(wait=True) == {"a"}


def test_brokers_without_ids_tell_nothing() -> None:
    none = "AAAAAAAAAAAAAAAAAAAAAA"
    cluster = Cluster(a=none)
    ids = TopicIds(cluster.ask, 60.0)
    ids.begin(["a"])

    assert ids.replaced(wait=True) == set()
    cluster.ids["a"] = "one"  # they were replaced
    assert ids.replaced(wait=True) == set()
    cluster.ids["a"] = none
    assert ids.replaced(wait=True) == set()


def test_who_does_not_wait_looks_now_and_then() -> None:
    cluster = Cluster(a="one")
    ids = TopicIds(cluster.ask, 60.0)
    ids.begin(["a"])

    for _ in range(1000):
        assert ids.replaced(wait=False) == set()

    assert cluster.looks == 1


def test_nothing_is_asked_while_nothing_is_read() -> None:
    cluster = Cluster()
    ids = TopicIds(cluster.ask, 60.0)

    assert ids.replaced(wait=True) == ids.replaced(wait=False) == set()
    assert not cluster.looks
