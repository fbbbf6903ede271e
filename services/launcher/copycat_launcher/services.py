"""The services that own a log, in one process: `python -m copycat_launcher.services worker.properties`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping

from copycat_connect.first import unless
from copycat_rpc import role

from copycat_launcher.in_process import RoleTask, first_end, serve_of, stop_all
from copycat_launcher.roles import SERVICES


async def serve(properties: Mapping[str, str], stop: asyncio.Event) -> None:
    """Serve all of them until `stop`; when one ends on its own, the others are drained too.

    Raises:
        CopycatError: Why one of them ended.
    """
    tasks = [RoleTask(service, serve_of(service), properties) for service in SERVICES]
    try:
        await unless(first_end(tasks), stop)
    finally:
        await stop_all(tasks)


if __name__ == "__main__":
    sys.exit(role.main("services", serve))
