"""Every call of an executor: `python executors.py worker.properties`."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime
from pathlib import Path

from copycat_client.client import CopycatClient
from copycat_client.offset_changes import SourceMove
from copycat_client.offsets import SourceOffset
from copycat_client.statuses import State
from copycat_connect.errors import UnavailableError
from copycat_rpc.errors import RemoteError
from copycat_rpc.role import read_properties

NAME = "example-executors"
CONFIG = {"name": NAME, "connector.class": "FileStreamSource", "file": "/dev/null", "topic": NAME}
PAUSE = 0.1


async def running(copycat: CopycatClient) -> None:
    """Return once the connector's task runs."""
    while True:
        try:
            status = await copycat.status.get(NAME)
        except RemoteError:  # nobody reported yet
            status = None
        if status and status.tasks and status.tasks[0].state is State.RUNNING:
            return
        await asyncio.sleep(PAUSE)


async def main(worker: Path) -> None:
    """Look at plugins, validate, restart."""
    async with CopycatClient.from_properties(read_properties(worker)) as copycat:
        executor = await copycat.executors.any()
        print("plugins", len(await executor.plugins()) > 0)
        print("first key", (await executor.plugin_config("FileStreamSource"))[0].name)

        valid = await executor.validate(CONFIG)
        print("errors", valid.error_count)
        wrong = await executor.validate({**CONFIG, "tasks.max": "many"})
        print("wrong", [finding.name for finding in wrong.findings if finding.errors])
        position = SourceOffset({"filename": CONFIG["file"]}, {"position": 0})
        print("offsets work", await executor.alter_offsets(CONFIG, source=[position]))
        move = SourceMove(position.partition, before={"position": 0}, after={"position": 5})
        print("effects", await executor.explain_offsets(CONFIG, [move]))
        print("offsets of a time", await executor.find_offsets(CONFIG, [position], datetime.now(UTC)))

        await copycat.configs.put(NAME, CONFIG)
        await running(copycat)
        owner = await copycat.executors.running(NAME)
        await owner.restart_connector(NAME)
        await (await copycat.executors.running(NAME, 0)).restart_task(NAME, 0)
        at_work = copycat.executors.at((await copycat.status.get(NAME)).tasks[0].worker_id)
        print("restarted by a worker with plugins", len(await at_work.plugins()) > 0)
        await copycat.configs.delete(NAME)
        try:
            await copycat.executors.running("example-unknown")
        except UnavailableError as none:
            print("none:", none.message)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
