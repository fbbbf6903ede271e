"""Watches, revisions, deadlines and health: `python watching.py worker.properties`."""

from __future__ import annotations

import asyncio
import sys
from contextlib import aclosing
from pathlib import Path

from copycat_client.client import CopycatClient
from copycat_client.connectors import Removed
from copycat_client.revisions import Revision
from copycat_client.watching import Change, Snapshot
from copycat_connect.cluster import TargetState
from copycat_connect.errors import UnavailableError
from copycat_rpc.role import read_properties

NAME = "example-watching"
CONFIG = {"name": NAME, "connector.class": "FileStreamSource", "file": "/dev/null", "topic": NAME}


async def main(worker: Path) -> None:
    """Go on with a watch where an earlier one ended."""
    async with CopycatClient.from_properties(read_properties(worker)) as copycat:
        print("health", await copycat.health())

        made = await copycat.configs.put(NAME, CONFIG, initial_state=TargetState.STOPPED)
        async with aclosing(copycat.configs.watch()) as events:
            snapshot = await anext(events)
        if isinstance(snapshot, Snapshot):
            print("in the snapshot", NAME in [connector.name for connector in snapshot.items])

        await copycat.configs.delete(NAME)
        async with aclosing(copycat.configs.watch(after=made.revision)) as events:
            async for event in events:
                if isinstance(event, Change) and event.item == Removed(NAME):
                    print("removed", NAME)
                    break

        try:  # nobody writes so much in half a second: the deadline ends the wait
            await copycat.configs.list(min_revision=Revision({0: 10**12}), timeout=0.5)
        except UnavailableError as late:
            print("late:", late.message)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
