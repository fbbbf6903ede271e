"""The servers of this folder's tests and one Copycat for all of them; who stops one starts it again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from copycat_testkit.hdfs import Hdfs
from copycat_testkit.postgres import Postgres, running_postgres
from copycat_testkit.s3 import S3Server
from copycat_testkit.system import CopycatUp

from tests.plain_hosts import on_plain_hosts


@pytest.fixture(scope="package")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    """Run a NameNode and a DataNode."""
    with Hdfs(tmp_path_factory.mktemp("hdfs")) as server:
        yield server


@pytest.fixture(scope="package")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """Run moto's server."""
    with S3Server(tmp_path_factory.mktemp("s3") / "log") as server:
        yield server


@pytest.fixture(scope="package")
def postgres() -> Iterator[Postgres]:
    """Run a PostgreSQL."""
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="package")
def system(kafka: str, hdfs: Hdfs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CopycatUp]:
    """Three workers, whose environment says where HDFS is."""
    options = ("--executors", "3", "--set", "spark.master=local[4]")
    folder = tmp_path_factory.mktemp("object-sinks")
    environment = on_plain_hosts(hdfs.environment())
    with CopycatUp(folder, kafka, options=options, environment=environment) as up:
        yield up
