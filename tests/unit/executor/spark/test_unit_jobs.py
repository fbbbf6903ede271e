"""What becomes of a job of one partition that cannot begin, and of a driver whose jobs nobody does."""

from __future__ import annotations

import threading
from typing import Any, NoReturn, cast

import pytest
from copycat_connect.errors import ConnectError
from copycat_executor.spark import session
from copycat_executor.spark.session import Spark
from copycat_executor.spark.unit_jobs import UnitJobs, UnitLostError
from py4j.protocol import Py4JError


class Session:
    """Stands for Spark: a job that fails before its frame is made calls no more of it."""

    def __init__(self) -> None:
        self.context = self
        self.tags: list[str] = []
        self.looks = 0

    def addJobTag(self, tag: str) -> None:
        self.tags.append(tag)

    def removeJobTag(self, tag: str) -> None:
        self.tags.remove(tag)

    def look(self) -> None:
        self.looks += 1


@pytest.mark.parametrize(
    ("said", "raised"),
    [
        ("SparkException: Lost task 0.0 (TID 4): ExecutorLostFailure (executor 0 exited)", UnitLostError),
        ("AnalysisException: [PATH_NOT_FOUND]", ConnectError),
    ],
)
def test_an_executor_that_is_lost_while_columns_are_looked_at_costs_a_try_and_a_file_that_is_bad_the_task(
    said: str, raised: type[Exception]
) -> None:
    def begin() -> NoReturn:
        raise Py4JError(said)

    spark = Session()
    jobs: Any = UnitJobs(cast("Spark", spark))
    with pytest.raises(raised, match=said.partition(":")[0]):
        jobs.run(begin, None, "tag", repeatable=True)
    assert (spark.tags, spark.looks) == ([], 1)


class Waiting:
    """A context on a cluster that has jobs, and so many executors beside the driver."""

    master = "spark://a:1"

    def __init__(self, executors: int) -> None:
        self._executors = executors

    @property
    def _jsc(self) -> Waiting:
        return self

    def sc(self) -> Waiting:
        return self

    def isStopped(self) -> bool:
        return False

    def getExecutorMemoryStatus(self) -> Waiting:
        return self

    def size(self) -> int:
        return 1 + self._executors

    def statusTracker(self) -> Waiting:
        return self

    def getActiveJobsIds(self) -> list[int]:
        return [1]


def test_a_driver_whose_jobs_get_no_executor_for_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_LOOK_SECONDS", 0.01)
    monkeypatch.setattr(session, "_NO_EXECUTOR_SECONDS", 0.05)
    served, waits = threading.Event(), threading.Event()
    for executors, given_up in ((1, served), (0, waits)):
        Spark(cast("Any", None), cast("Any", Waiting(executors))).when_stopped(given_up.set)
    assert waits.wait(60)
    assert not served.is_set()
