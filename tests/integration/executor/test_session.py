"""Spark sessions of one process."""

from __future__ import annotations

import pytest
from copycat_executor.spark.session import start_spark
from copycat_executor.spark.worker import SCHEMA, idle

pytestmark = pytest.mark.timeout(240)


def test_a_process_may_start_spark_again_after_it_stopped() -> None:
    for _ in range(2):
        spark = start_spark({"spark.master": "local[2]"})
        try:
            found = spark.session.range(1, numPartitions=1).mapInArrow(idle, SCHEMA).collect()
        finally:
            spark.stop()
        assert [row.summary for row in found] == ["idle"]
