"""Every call of the offset service: `python offsets.py worker.properties`."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

from copycat_client.client import CopycatClient
from copycat_client.offset_changes import OffsetsChange, SourceMove
from copycat_client.offsets import Position, SourceOffset
from copycat_connect.cluster import Instance, TargetState, sink_group
from copycat_rpc.errors import RemoteError
from copycat_rpc.role import read_properties

NAME = "example-offsets"
TASK = Instance(NAME, 0)
PAUSE = 0.1


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Return once it holds."""
    while True:
        if await holds():
            return
        await asyncio.sleep(PAUSE)


async def generations(copycat: CopycatClient) -> dict[Instance, int]:
    """Return the generation every instance runs under."""
    return {each.instance: each.generation for each in await copycat.scheduler.assignments()}


async def committed(copycat: CopycatClient) -> bool:
    """Return whether the source has committed an offset."""
    return bool(await copycat.offsets.list_source(NAME))


async def unassigned(copycat: CopycatClient) -> bool:
    """Return whether no worker runs the task any more."""
    return TASK not in await generations(copycat)


async def main(worker: Path, file: str) -> None:
    """Copy a file, then move the source's offset and a sink's positions."""
    config = {"name": NAME, "connector.class": "FileStreamSource", "file": file, "topic": NAME}
    async with CopycatClient.from_properties(read_properties(worker)) as copycat:
        offsets = copycat.offsets
        await copycat.configs.put(NAME, config)
        await until(lambda: committed(copycat))
        found = await offsets.list_source(NAME)
        partition = found[0].partition
        print("position", (await offsets.read_source(NAME, [partition]))[0].offset)

        # What workers do: a commit counts only under the newest generation of its task.
        generation = (await generations(copycat))[TASK]
        await offsets.commit_source(NAME, 0, generation, found)
        try:
            await offsets.commit_source(NAME, 0, generation - 1, found)
        except RemoteError as refusal:
            print("refused", refusal.remote_code.name)
        await offsets.commit_sink(NAME, 0, generation, [Position(NAME, 0, 1)])
        print("group", await offsets.list_sink(sink_group(NAME)))

        # What people do, while the connector is stopped.
        await copycat.configs.set_target_state(NAME, TargetState.STOPPED)
        await until(lambda: unassigned(copycat))
        move = SourceMove(partition, before=found[0].offset, after={"position": 2})
        await offsets.remember_change(OffsetsChange(NAME, datetime.now(UTC), source=(move,)))
        await offsets.alter_source(NAME, [SourceOffset(partition, move.after)])
        print("altered", (await offsets.read_source(NAME, [partition]))[0].offset)
        last = await offsets.last_change(NAME)
        print("before the last change", last.source[0].before if last else None)
        await offsets.alter_source(NAME, [SourceOffset(partition, None)])
        print("reset", await offsets.list_source(NAME))
        back = [Position(NAME, 0, 0)]
        print("would repeat", (await offsets.describe_sink_moves(sink_group(NAME), back))[0].repeated)
        await offsets.alter_sink(sink_group(NAME), [Position(NAME, 0, None)])
        await offsets.delete_sink(sink_group(NAME))
        print("deleted", await offsets.list_sink(sink_group(NAME)))
        await copycat.configs.delete(NAME)


if __name__ == "__main__":
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as lines:
        lines.write("one\ntwo\n")
        lines.flush()
        asyncio.run(main(Path(sys.argv[1]), lines.name))
