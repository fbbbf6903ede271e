"""Whether a topic is still the one that is read."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from copycat_connect.topic_ids import Described, TopicIds


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
    later = threading.Timer(0.2, lambda: late[-1].done() or late[-1].set_result(Topic("another")))
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
