"""One schema registry, one of each database, one running system, and an environment for plugins."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from copycat_embedded.jars import ensure_jars
from copycat_testkit.mariadb import MariaDb
from copycat_testkit.postgres import Postgres, running_postgres
from copycat_testkit.schema_registry import SchemaRegistry
from copycat_testkit.scratch_environment import ScratchEnvironment, make_scratch_environment
from copycat_testkit.spans import OtlpReceiver
from copycat_testkit.system import SHORT_LIVED_DRIVERS, CopycatUp

from tests.plain_hosts import on_plain_hosts


@pytest.fixture(scope="package")
def schema_registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a registry and give its address."""
    with SchemaRegistry(tmp_path_factory.mktemp("registry")) as registry:
        yield registry.url


@pytest.fixture(scope="package")
def postgres() -> Iterator[Postgres]:
    """Run a PostgreSQL; who stops it starts it again."""
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="package")
def spans() -> Iterator[OtlpReceiver]:
    """Run a collector of the system's spans."""
    with OtlpReceiver() as receiver:
        yield receiver


@pytest.fixture(scope="package")
def system(kafka: str, spans: OtlpReceiver, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CopycatUp]:
    """Run a whole system; a test that kills a part of it waits until its own tasks run again."""
    (driver,) = (jar for jar in ensure_jars(("jdbc",)) if jar.name.startswith("postgresql"))
    settings = {
        **SHORT_LIVED_DRIVERS,
        "spark.jars": str(driver),  # SparkSource reads databases with it
        "otel.exporter.otlp.endpoint": spans.endpoint,
    }
    folder = tmp_path_factory.mktemp("system")
    with CopycatUp(folder, kafka, settings=settings, environment=on_plain_hosts()) as up:
        yield up


@pytest.fixture(scope="package")
def mariadb() -> Iterator[MariaDb]:
    """Run a MariaDB; who stops it starts it again."""
    folder = Path(tempfile.mkdtemp(prefix="mariadb-"))  # short, and open to the server's own account
    server = MariaDb(folder)
    try:
        yield server.start()
    finally:
        server.stop()
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> ScratchEnvironment:
    """Give an environment with all of Copycat, that a module's tests may change."""
    return make_scratch_environment(tmp_path_factory.mktemp("environment"))
