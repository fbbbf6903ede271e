"""Every call of the status service: `python statuses.py worker.properties`."""

from __future__ import annotations

import asyncio
import sys
from contextlib import aclosing
from pathlib import Path

from copycat_client.client import CopycatClient
from copycat_client.statuses import InstanceStatus, State
from copycat_client.watching import Change, Snapshot, Stale
from copycat_connect.cluster import Instance, TargetState
from copycat_rpc.errors import RemoteError
from copycat_rpc.role import read_properties

NAME = "example-statuses"
CONFIG = {"name": NAME, "connector.class": "FileStreamSource", "file": "/dev/null", "topic": NAME}


async def until(copycat: CopycatClient, instance: Instance, state: State) -> None:
    """Return once an instance reports a state."""
    async with aclosing(copycat.status.watch()) as events:
        async for event in events:
            match event:
                case Snapshot(items=items):
                    now = {each.instance: each.status.state for each in items}
                case Change(item=InstanceStatus(instance=changed, status=status)):
                    now[changed] = status.state
                case Change(item=forgotten):
                    now.pop(forgotten.instance, None)
                case Stale():
                    continue
            if now.get(instance) is state:
                return


async def main(worker: Path) -> None:
    """Follow a connector, and write what its worker writes."""
    async with CopycatClient.from_properties(read_properties(worker)) as copycat:
        statuses = copycat.status
        await copycat.configs.put(NAME, CONFIG, initial_state=TargetState.STARTED)
        await until(copycat, Instance(NAME, 0), State.RUNNING)
        found = await statuses.get(NAME)
        print("task", found.tasks[0].state.name)
        print("listed", NAME in [each.connector for each in await statuses.list()])

        # The same again writes nothing; one of an older generation would be dropped (I2).
        revision = await statuses.report([InstanceStatus(Instance(NAME, 0), found.tasks[0])])
        again = await statuses.get(NAME, min_revision=revision)
        print("unchanged", again.tasks == found.tasks)

        await statuses.report_topics(NAME, 0, [NAME], discovered_ms=1)
        print("topics", sorted(await statuses.topics(NAME)))
        await statuses.reset_topics(NAME)
        print("topics", sorted(await statuses.topics(NAME)))

        await copycat.configs.delete(NAME)
        await statuses.forget(NAME)  # as the scheduler does for connectors that are gone
        try:
            await statuses.get("example-unknown")
        except RemoteError as unknown:
            print("unknown", unknown.remote_code.name)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
