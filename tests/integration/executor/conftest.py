"""The Java that Spark runs on, found as the launcher finds it, a driver, and a master of a Spark cluster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from copycat_embedded.spark_java import spark_java_home
from copycat_executor.spark.session import Spark, start_driver
from copycat_testkit.system import SHORT_LIVED_DRIVERS

from tests.integration.executor.executor_process import HOST, LEAN, Master, spark_master


@pytest.fixture(scope="package", autouse=True)
def java_home() -> Iterator[None]:
    """Name it in the environment of these tests and of the processes they start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_HOME", str(spark_java_home()))
        yield


@pytest.fixture(scope="module")
def spark() -> Iterator[Spark]:
    """A driver in this process."""
    running = start_driver(SHORT_LIVED_DRIVERS)
    yield running
    running.stop()


@pytest.fixture
def master(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Master]:
    """A Spark master on loopback, without workers."""
    monkeypatch.setenv("SPARK_DAEMON_MEMORY", "200m")
    monkeypatch.setenv("SPARK_DAEMON_JAVA_OPTS", LEAN)
    monkeypatch.setenv("SPARK_LAUNCHER_OPTS", LEAN)
    monkeypatch.setenv("SPARK_WORKER_DIR", str(tmp_path / "work"))
    monkeypatch.setenv("SPARK_LOCAL_IP", HOST)
    with spark_master() as found:
        yield found
