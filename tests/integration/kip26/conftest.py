"""The author's plugins for every process these tests start, and applications in processes of their own."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from copycat_client.client import CopycatClient
from copycat_rpc.role import read_properties
from copycat_testkit.commands import Command, Commands
from copycat_testkit.system import CopycatUp, names

from tests.integration.kip26.world import Workers, until
from tests.plain_hosts import on_plain_hosts

HERE = Path(__file__).parent
STRING = "org.apache.kafka.connect.storage.StringConverter"
Launch = Callable[[str], Command]


@pytest.fixture(scope="package")
def plugin_path() -> Iterator[None]:
    """Make the plugins known, as an installation of their package would."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(HERE / "author"), os.environ.get("PYTHONPATH", "")]))
        yield


@pytest.fixture(scope="module")
def launch(kafka: str, plugin_path: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launch]:
    """Launch copies of an application by its app id; whatever still runs is killed at the end."""
    commands = Commands(tmp_path_factory.mktemp("applications"), on_plain_hosts())
    python = Path(sys.executable)
    yield lambda app_id: commands.start(HERE / "application.py", app_id, kafka, program=python)
    commands.close()


@pytest.fixture(scope="package")
def cluster(kafka: str, plugin_path: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CopycatUp]:
    """Three workers."""
    settings = {
        **names("kip26"),
        "key.converter": STRING,
        "value.converter": STRING,
        "offset.flush.interval.ms": "300",
        "spark.master": "local[4]",
    }
    folder = tmp_path_factory.mktemp("cluster")
    with CopycatUp(
        folder, kafka, settings=settings, options=["--executors", "3"], environment=on_plain_hosts()
    ) as system:
        yield system


@pytest.fixture
async def copycat(cluster: CopycatUp) -> AsyncIterator[CopycatClient]:
    """The cluster's services; what a test left behind is deleted, and every worker has let go of it."""
    properties = read_properties(cluster.folder / "worker.properties")
    async with CopycatClient.from_properties(properties) as client:
        yield client
        for connector in (await client.configs.list()).value:
            await client.configs.delete(connector.name)

        async def free() -> bool:
            return not any(worker.held for worker in await client.scheduler.workers())

        await until(free, "no worker holds anything")


@pytest.fixture
def more(cluster: CopycatUp, tmp_path: Path) -> Iterator[Workers]:
    """Add roles to the cluster; they end with the test."""
    folder = tmp_path / "more"
    folder.mkdir()
    workers = Workers(cluster, folder)
    yield workers
    workers.close()
