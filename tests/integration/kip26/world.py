"""What the tests of a cluster ask and wait for, and single roles that they add to it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import httpx2
from copycat_client.client import CopycatClient
from copycat_client.scheduler import Assignment
from copycat_client.statuses import ConnectorStatus, State
from copycat_connect.cluster import Instance
from copycat_embedded.ports import free_ports
from copycat_rpc.errors import RemoteError
from copycat_rpc.role import read_properties
from copycat_testkit.commands import COPYCAT_WORKER, Command, Commands
from copycat_testkit.kafka import consume_all, unique, wait_until
from copycat_testkit.system import CopycatUp

from tests.plain_hosts import on_plain_hosts

SECONDS = 60.0
PAUSE = 0.05


async def until(holds: Callable[[], Awaitable[bool]], what: str, within: float = SECONDS) -> None:
    """Wait for a condition that has to be asked for.

    Raises:
        AssertionError: It did not come true.
    """
    deadline = asyncio.get_running_loop().time() + within
    while not await holds():
        assert asyncio.get_running_loop().time() < deadline, f"never came true: {what}"
        await asyncio.sleep(PAUSE)


def folder_source(name: str, folder: Path, tasks: int = 20, **more: str) -> dict[str, str]:
    """A source whose system is a folder; topics are named by connector and file."""
    return {
        "name": name,
        "connector.class": "author.FolderSourceConnector",
        "tasks.max": str(tasks),
        "folder": str(folder),
        "topic.prefix": f"{name}.",
        **more,
    }


def write_files(folder: Path, *names: str) -> None:
    """Write a file of one line for each name."""
    for name in names:
        (folder / f"{name}.txt").write_text(f"{name}\n")


async def status_of(copycat: CopycatClient, name: str) -> ConnectorStatus:
    """Return a connector's status; an empty one while nobody reported."""
    try:
        return await copycat.status.get(name)
    except RemoteError:
        return ConnectorStatus(name, None, {})


async def task_files(copycat: CopycatClient, name: str) -> list[set[str]]:
    """Return the files of each task as they are published."""
    connector = (await copycat.configs.get(name)).value
    return [set((task["files"] or "").removesuffix(".txt").split(".txt,")) for task in connector.tasks]


async def assigned(copycat: CopycatClient, name: str) -> Mapping[Instance, Assignment]:
    """Return where a connector and its tasks run."""
    found = await copycat.scheduler.assignments()
    return {each.instance: each for each in found if each.instance.connector == name}


async def runs(copycat: CopycatClient, name: str, tasks: int) -> None:
    """Wait until the connector and exactly so many tasks run, where they are assigned."""

    async def holds() -> bool:
        status = await status_of(copycat, name)
        places = await assigned(copycat, name)
        said = {
            Instance(name): status.status,
            **{Instance(name, n): each for n, each in status.tasks.items()},
        }
        return len(status.tasks) == tasks == len(places) - 1 and all(
            each is not None
            and each.state is State.RUNNING
            and each.worker_id == places[instance].worker_id
            and each.generation == places[instance].generation
            for instance, each in said.items()
            if instance in places
        )

    await until(holds, f"{name} runs with {tasks} tasks")


async def arrived(copycat: CopycatClient, kafka: str, name: str, *lines: str) -> None:
    """Wait until the records of all topics of a connector are these."""

    async def holds() -> bool:
        topics = await copycat.status.topics(name)
        return sorted(lines) == await asyncio.to_thread(values, kafka, *topics)

    await until(holds, f"{name} copied {lines}")


def values(kafka: str, *topics: str) -> list[str]:
    """Return the values of some topics, sorted."""
    return sorted(
        (message.value() or b"").decode() for topic in topics for message in consume_all(kafka, topic)
    )


class Workers:
    """Starts single roles of the cluster beside those it has."""

    def __init__(self, system: CopycatUp, folder: Path) -> None:
        self._properties = read_properties(system.folder / "worker.properties")
        self._folder = folder
        self._commands = Commands(folder, on_plain_hosts())

    def start(self, role: str, **more: str) -> Command:
        """Start a role whose properties differ in these, `_` for `.`."""
        told = {**self._properties, **{key.replace("_", "."): value for key, value in more.items()}}
        file = self._folder / f"{unique(role)}.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in told.items()))
        return self._commands.start(file, "--role", role, program=COPYCAT_WORKER)

    def executor(self) -> tuple[Command, str]:
        """Start an executor; returns its worker id, too."""
        address = f"127.0.0.1:{free_ports(1)[0]}"
        return self.start("executor", executor_listen=address, executor_addresses=address), address

    def gateway(self) -> str:
        """Start a gateway; returns its root once it answers."""
        url = f"http://127.0.0.1:{free_ports(1)[0]}"
        self.start("gateway", listeners=url)
        wait_until(lambda: answers(url), SECONDS, "another gateway")
        return url

    def close(self) -> None:
        self._commands.close()


def answers(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/health", timeout=30).status_code == 200
    except httpx2.TransportError:
        return False
