"""Every call of the config service: `python configs.py worker.properties`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from copycat_client.client import CopycatClient
from copycat_connect.cluster import TargetState
from copycat_rpc.errors import RemoteError
from copycat_rpc.role import read_properties

NAME = "example-configs"
CONFIG = {"name": NAME, "connector.class": "FileStreamSource", "file": "/dev/null", "topic": NAME}


async def main(worker: Path) -> None:
    """Create, change, stop, restart and delete a connector."""
    async with CopycatClient.from_properties(read_properties(worker)) as copycat:
        configs = copycat.configs

        made = await configs.put(NAME, CONFIG, initial_state=TargetState.PAUSED, create_only=True)
        print("created", made.created)
        try:
            await configs.put(NAME, CONFIG, create_only=True)
        except RemoteError as refusal:
            print("refused", refusal.remote_code.name)

        # A write says from which revision on it can be seen: a read of any instance may ask for it.
        seen = await configs.get(NAME, min_revision=made.revision)
        print("target state", seen.value.target_state.name)
        listed = await configs.list(min_revision=made.revision)
        print("listed", NAME in [connector.name for connector in listed.value])

        await configs.set_target_state(NAME, TargetState.STOPPED)
        changed, _ = await configs.put_task_configs(NAME, [], applied_config=CONFIG)
        print("task set changed", changed)

        await configs.request_restart(NAME, include_tasks=True, only_failed=True)
        await configs.set_logger_level("org.example", "DEBUG")
        await configs.delete(NAME)
        try:
            await configs.get(NAME)
        except RemoteError as unknown:
            print("gone", unknown.remote_code.name, unknown.fields["connector"])


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
