"""What Spark hears of a query with state."""

from __future__ import annotations

import traceback
from typing import Any

import pytest
from copycat_executor.spark.state_queries import ShortErrors
from copycat_executor.spark.unit_jobs import UnitLostError

LONG = "An error occurred while calling o1.collect.\n: org.apache.spark.SparkException: Job 7 cancelled\n"


def test_spark_hears_in_a_line_why_a_batch_failed() -> None:
    def each(rows: Any, number: int) -> None:
        del rows, number
        cause = ValueError(LONG + "\tat java.lang.Thread.run\n" * 1000)
        raise UnitLostError(str(cause)) from cause

    batches = ShortErrors(each)
    with pytest.raises(UnitLostError) as failed:
        batches(None, 0)  # type: ignore[arg-type]
    assert batches.why == "org.apache.spark.SparkException: Job 7 cancelled"
    heard = "".join(traceback.format_exception(failed.value))
    assert batches.why in heard
    assert "java.lang.Thread" not in heard
    assert "An error occurred while calling" not in heard


def test_a_batch_that_is_done_says_nothing() -> None:
    done: list[tuple[Any, int]] = []
    batches = ShortErrors(lambda rows, number: done.append((rows, number)))
    batches("rows", 3)  # type: ignore[arg-type]
    assert (done, batches.why) == ([("rows", 3)], None)
