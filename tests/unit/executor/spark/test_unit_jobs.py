"""What becomes of a job of one partition that cannot begin."""

from __future__ import annotations

from typing import Any, NoReturn, cast

import pytest
from copycat_connect.errors import ConnectError
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

    session = Session()
    jobs: Any = UnitJobs(cast("Spark", session))
    with pytest.raises(raised, match=said.partition(":")[0]):
        jobs.run(begin, None, "tag", repeatable=True)
    assert (session.tags, session.looks) == ([], 1)
