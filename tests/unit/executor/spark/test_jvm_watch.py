"""When a JVM of Spark counts as hung."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from copycat_executor.spark import jvm_watch
from copycat_executor.spark.jvm_watch import JvmWatch
from copycat_testkit.kafka import wait_until
from py4j.protocol import Py4JError

SECONDS = 60.0


class Jvm:
    """Answers until it hangs, or has ended."""

    def __init__(self) -> None:
        self.asked = 0
        self.hangs = threading.Event()
        self.thawed = threading.Event()
        self.gone = False
        self.killed = threading.Event()

    def ask(self) -> None:
        self.asked += 1
        if self.gone:
            raise Py4JError
        if self.hangs.is_set():
            self.thawed.wait(SECONDS)


@pytest.fixture
def jvm() -> Jvm:
    return Jvm()


@pytest.fixture
def watch(jvm: Jvm) -> Iterator[JvmWatch]:
    # Looks are so many that a machine which stands still is no reason to end what answers.
    watching = JvmWatch(jvm.ask, jvm.killed.set, interval_seconds=0.02)
    watching.start()
    yield watching
    watching.stop()
    jvm.thawed.set()


def test_one_that_hangs_is_ended(jvm: Jvm, watch: JvmWatch) -> None:
    wait_until(lambda: jvm.asked > 3, SECONDS, "it is asked")
    jvm.hangs.set()
    assert jvm.killed.wait(SECONDS)


def test_one_that_is_gone_is_left_to_who_watches_its_end(jvm: Jvm, watch: JvmWatch) -> None:
    jvm.gone = True
    wait_until(lambda: jvm.asked > 0, SECONDS, "it is asked")
    wait_until(lambda: not _watching(), SECONDS, "nobody asks any more")
    assert not jvm.killed.is_set()


def _watching() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == "spark-jvm-hangs"]


def test_it_has_half_a_minute() -> None:
    assert jvm_watch.INTERVAL_SECONDS * jvm_watch.MOST_LOOKS == 30.0
