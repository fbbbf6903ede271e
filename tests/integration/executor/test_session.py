"""Spark sessions of one process."""

from __future__ import annotations

import pytest
from copycat_executor.spark.session import start_spark
from copycat_executor.spark.worker import idle

pytestmark = pytest.mark.timeout(240)


def test_a_process_may_start_spark_again_after_it_stopped() -> None:
    for _ in range(2):
        spark = start_spark({"spark.master": "local[2]"})
        try:
            found = spark.context.parallelize(["spec"], 1).mapPartitions(idle).collect()
        finally:
            spark.stop()
        assert found == ["spec"]
