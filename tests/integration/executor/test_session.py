"""Spark sessions of one process, and what they leave in the folder of temporary files."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path
from queue import SimpleQueue

import pytest
from copycat_executor.spark.session import start_spark
from copycat_executor.spark.worker import idle

pytestmark = [pytest.mark.timeout(240), pytest.mark.long]


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of temporary files for this test alone."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_a_process_may_start_spark_again_after_it_stopped_or_was_killed(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "/of/another/program")
    for how in ("killed", "stopped"):
        spark = start_spark({"spark.master": "local[2]"})
        codes: SimpleQueue[int] = SimpleQueue()
        spark.jvm.when_ended(codes.put)
        try:
            found = spark.context.parallelize(["spec"], 1).mapPartitions(idle).collect()
            (scratch,) = temporary.iterdir()
            inside = {each.name.partition("-")[0] for each in scratch.iterdir()}
            if how == "killed":
                os.kill(spark.jvm.pid, signal.SIGKILL)
                codes.get(timeout=60)
                assert list(temporary.iterdir()) == [], "all that a killed JVM leaves goes at once"
        finally:
            spark.stop()
        assert found == ["spec"]
        assert {"blockmgr", "spark"} <= inside, "Spark keeps its files in our folder and nowhere else"
        assert list(temporary.iterdir()) == []
    left = {name: value for name, value in os.environ.items() if name.startswith("PYSPARK_")}
    assert left == {"PYSPARK_PYTHON": "/of/another/program"}, "later programs must not meet ours"
